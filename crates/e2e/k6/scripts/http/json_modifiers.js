// Modifiers of paths: names, values, texts, groups.
import http from 'k6/http';
const d = { o: { b: 1, a: [1, { c: 2 }], 's p': 'x' }, arr: [5, 'q', null], n: null, num: 7, str: 'plain', js: '{"x": [1,2]}', g: { id: [1, 2, 3], name: ['a', 'b'], other: 5 }, list: [{ k: 1 }, { k: 2, j: 3 }], e: {} };
const paths = [
  'o.@keys', 'o.@values', 'arr.@keys', 'arr.@values', 'num.@keys', 'num.@values', 'n.@keys', 'nope.@keys', 'e.@keys', 'e.@values',
  'o.@keys.0', 'o.@keys|1', 'o.@keys.#', 'o|@keys|@reverse', 'o.@values.1.1.c', 'num.@tostr', 'str.@tostr', 'nope.@tostr', 'js.@fromstr',
  'js.@fromstr.x.1', 'num.@fromstr', 'str.@fromstr', 'g.@group', 'arr.@group', 'g.@group.#.name', 'g.@group.1.id', 'list.#.@keys', 'list|@keys',
  'o.@keys:5', 'o.@tostr.@fromstr.b', 'o.@keys.@values', 'list.@values.1.j', 'e.@group', 'num.@group',
];
export default function () {
  const r = http.post(`${__ENV.BASE}/anything`, JSON.stringify(d), { headers: { 'Content-Type': 'application/json' } });
  const sorted = (v) => (Array.isArray(v) ? v.map(sorted) : v && typeof v === 'object' ? Object.fromEntries(Object.entries(v).sort()) : v);
  for (const path of paths) {
    const v = r.json(`json.${path}`);
    console.log(path, v === undefined ? 'undefined' : JSON.stringify(sorted(v)));
  }
}
