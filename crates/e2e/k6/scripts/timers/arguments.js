// Arguments are handed on; odd ones are refused.
export default function () {
  setTimeout((a, b) => console.log(a, b), 1, 'one', { two: 2 }); setTimeout(() => console.log('negative'), -5); setTimeout(() => console.log('text'), '2');
  for (const f of [() => setTimeout(), () => setInterval(null, 1)]) { try { f(); console.log('fine'); } catch (e) { console.log(e.message); } }
}
