// What the response tells of the cookies that were sent.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/headers`, { cookies: { a: { value: 'x', replace: true }, b: 'y' } });
  console.log(Object.keys(r.request.cookies).sort().join(), JSON.stringify(r.request.cookies.a.map((c) => [c.name, c.value, c.replace])), JSON.stringify(r.request.cookies.b.map((c) => [c.name, c.value, c.replace])));
}
