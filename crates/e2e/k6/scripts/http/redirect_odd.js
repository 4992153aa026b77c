// A redirect that leads nowhere, and a 303.
import http from 'k6/http';
export default function () {
  const r = http.post(`${__ENV.BASE}/location/see-other`, 'x'); console.log(r.status, r.json('method'));
  const e = http.get(`${__ENV.BASE}/location/empty`); console.log(e.status, e.error_code);
  const b = http.get(`${__ENV.BASE}/location/broken`); console.log(b.status, b.error_code, b.error);
}
