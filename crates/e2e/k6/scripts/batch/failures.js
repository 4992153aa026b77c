//@ log: sorted
// One that fails leaves the others alone.
import http from 'k6/http';
export default function () {
  const rs = http.batch([`${__ENV.BASE}/get`, 'http://127.0.0.1:1/', `${__ENV.BASE}/status/500`]);
  console.log(rs.map((r) => `${r.status}/${r.error_code}`).join(' '));
}
