// get takes two arguments; more are told and ignored.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/headers`, null, { headers: { 'X-Ignored': '1' } });
  console.log(r.status, r.json('headers.X-Ignored'));
}
