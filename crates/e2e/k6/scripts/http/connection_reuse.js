//@ args: --no-connection-reuse
// A connection for each request.
import http from 'k6/http';
export default function () {
  http.get(`${__ENV.BASE}/ok`); const r = http.get(`${__ENV.BASE}/ok`);
  console.log(r.timings.connecting > 0, r.status);
}
