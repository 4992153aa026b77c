// Headers both ways.
import http from 'k6/http';
export default function () {
  const h = http.get(`${__ENV.BASE}/headers`, { headers: { 'X-Custom': 'c', accept: 'application/json' } }).json('headers');
  console.log(h['X-Custom'], h.Accept, h['Accept-Encoding'], h['User-Agent']);
  const r = http.get(`${__ENV.BASE}/response-headers?X-Answer=yes&x-lower=low`); console.log(r.headers['X-Answer'], r.headers['X-Lower'], r.headers['Content-Type'].split(';')[0]);
}
