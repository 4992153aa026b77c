// The messages of the commonest mistakes.
function tell(f) { try { f(); console.log('no error'); } catch (e) { console.log(`${e.name}: ${e.message}`); } }
export default function () {
  let nothing; const nil = null; const o = {};
  tell(() => nothing.prop);
  tell(() => nil.prop);
  tell(() => o.method());
  tell(() => nothing());
  tell(() => missing);
  tell(() => { const c = 1; c = 2; });
  tell(() => JSON.parse('{"a":'));
  tell(() => { throw { custom: true }; });
}
