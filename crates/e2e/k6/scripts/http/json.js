// json() with and without a path.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/deep/json`);
  for (const path of ['name', 'list.#', 'list.1.id', 'list.#.id', 'list.0.tags.1', 'list.2.name\\.with\\.dots', 'list.#(id==2).id', 'list.#(id>1)#.id', 'nested.deep.value', 'nested.deep.yes', 'nested.deep.number', 'no.such', 'text', 'list.-1', 'nested.*.yes', 'list.@reverse.0.id']) console.log(path, JSON.stringify(r.json(path)));
  console.log(r.json().list.length, r.json() === r.json());
}
