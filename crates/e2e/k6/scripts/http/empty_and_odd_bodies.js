// How requests without a body are delimited, and what odd bodies become.
import http from 'k6/http';
const told = (r) => [r.status, r.json('headers.Content-Length.0'), r.json('headers.Transfer-Encoding.0'), r.json('headers.Content-Type.0'), r.request.body].map(String).join();
export default function () {
  const u = `${__ENV.BASE}/anything`;
  for (const m of ['post', 'put', 'patch', 'del']) console.log(m, told(http[m](u)), told(http[m](u, null)), told(http[m](u, '')), told(http[m](u, 'x')));
  for (const b of [{ a: null }, { a: undefined }, { a: { b: 1 } }, { a: [1, [2]] }, { a: 1.5, b: 1e21, c: true }]) console.log(told(http.post(u, b)));
  for (const b of [42, 1.5, true, () => 1, new Date(0), [1, 2], new Map([[1, 2]]), 10n, new Uint16Array([1])]) { const r = http.post(u, b); console.log(r.status, r.error_code, r.error, JSON.stringify(r.body), r.url); }
}
