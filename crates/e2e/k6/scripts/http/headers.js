// Headers sent and received.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/headers`, { headers: { 'X-One': '1', 'x-lower': 'low', 'X-Number': 5, 'User-Agent': 'mine', Host: 'other.test', Accept: 'text/plain' } });
  const h = r.json('headers');
  console.log(Object.keys(h).sort().join(), h['X-One'][0], h['X-Lower'][0], h['X-Number'][0], h['User-Agent'][0], h.Host[0]);
  console.log(Object.keys(r.request.headers).sort().join(), r.request.headers['X-One']);
  const odd = http.get(`${__ENV.BASE}/headers/odd`);
  for (const n of ['X-Lower-Case', 'X-Many', 'Etag', 'ETag', 'Www-Thing', 'x-many', 'Content-Length']) console.log(n, odd.headers[n]);
}
