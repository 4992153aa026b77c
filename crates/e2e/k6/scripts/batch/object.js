// Requests by name.
import http from 'k6/http';
export default function () {
  const rs = http.batch({ one: `${__ENV.BASE}/get?n=1`, two: ['POST', `${__ENV.BASE}/anything`, 'x'], 'three 3': { method: 'GET', url: `${__ENV.BASE}/status/404` } });
  console.log(Object.keys(rs).sort().join(), rs.one.json('args.n.0'), rs.two.json('data'), rs['three 3'].status);
}
