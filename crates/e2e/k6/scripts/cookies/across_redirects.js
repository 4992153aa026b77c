// A cookie that a redirect sets is sent to the next hop.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/cookies/hop`);
  console.log(r.status, JSON.stringify(r.json()), JSON.stringify(r.cookies));
  http.get(`${__ENV.BASE}/cookies/set?x=1`); http.get(`${__ENV.BASE}/cookies/delete?x`);
  console.log(JSON.stringify(http.get(`${__ENV.BASE}/cookies`).json()));
}
