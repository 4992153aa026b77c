// A request that takes too long.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/delay/5`, { timeout: '150ms' });
  console.log(r.status, r.error_code, r.error, r.body);
  console.log(http.get(`${__ENV.BASE}/delay/3`, { timeout: 150 }).error_code, http.get(`${__ENV.BASE}/get`, { timeout: '5s' }).status);
}
