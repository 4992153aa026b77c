// Modules are strict, and `this` at their top is undefined.
const top = typeof this;
export default function () {
  let thrown = 'nothing';
  try { undeclared = 1; } catch (e) { thrown = e.name; }
  console.log(top, thrown, (function () { return typeof this; })());
  try { Object.freeze({ a: 1 }).a = 2; } catch (e) { console.log(e.name); }
}
