// One item that is no request keeps the others from being sent.
import http from 'k6/http';
const tell = (f) => { try { console.log(JSON.stringify(f().map((r) => [r.status, r.error_code, r.error, r.body && r.body.length, r.url]))); } catch (e) { console.log(`${e.name}: ${e.message}`); } };
export default function () {
  const u = `${__ENV.BASE}/status/200`;
  for (const items of [[['GET', u], 5], [[1]], [['GET']], [{}], [['GET', 'nope'], u], [u, null]]) tell(() => http.batch(items));
  for (const items of [undefined, null, 5, true, () => 1]) tell(() => http.batch(items));
  tell(() => http.batch([u], []));
}
