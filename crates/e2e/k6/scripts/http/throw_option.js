// Failed requests as exceptions, by parameter.
import http from 'k6/http';
export default function () {
  try { http.get('http://127.0.0.1:1/', { throw: true }); } catch (e) { console.log(e.name, e.message); }
  console.log(http.get(`${__ENV.BASE}/status/500`, { throw: true }).status);
}
