// A class that is called without `new`: the trace begins with the caller.
class A {}
const tell = (what) => {
  try { what(); } catch (e) { console.log(String(e), e.stack.split('\n').slice(1, -1).filter((line) => !line.includes('native')).length); }
};
export default function () {
  tell(() => A());
  tell(() => [1].map(A));
  tell(() => { class B extends A {} B(); });
  A();
}
