// Intervals until cleared.
export default function () { let n = 0; const id = setInterval(() => { n += 1; console.log('tick', n); if (n === 3) clearInterval(id); }, 10); console.log(typeof id); }
