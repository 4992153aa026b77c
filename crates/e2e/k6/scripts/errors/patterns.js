// Where traces say that something could not be taken apart.
const place = (e) => String(e.stack).split('\n').filter((line) => line.startsWith('\tat ')).slice(0, 2).map((line) =>
  line.replace(/^\tat /, '').replace(/file:[^ ]*\//, '').replace(/\(\d+\)/, '')).join(' ; ');
const u = undefined, o = {};
let w;
function fu() { }
const tests = [
  () => { const { a } = u; }, () => { const { a } = fu(); }, () => { const { a } = o.x; }, () => { const { a: { b } } = o; }, () => { const { a } = null; }, () => { let { a } = undefined; },
  () => { const [a] = u; }, () => { const [a] = fu(); }, () => { const [a] = o.x; }, () => { const [a] = 5; }, () => { (({ a }) => a)(u); }, () => { (({ a }) => a)(); }, () => { (([a]) => a)(o); },
  () => { ({ a: w } = u); }, () => { [w] = u; }, () => { for (const { a } of [u]); }, () => { for (const [a] of [u]); }, () => { const { a = fu().x } = o; }, () => { const { [u.k]: a } = o; },
  () => { const { a, ...r } = u; }, () => { var { a } = u; }, () => { const { a } = o?.x?.y; }, function named({ q }) { },
];

export default function () {
  tests.forEach((test, index) => {
    try {
      test();
      console.log(index, 'nothing');
    } catch (e) {
      console.log(index, String(e), place(e));
    }
  });
}
