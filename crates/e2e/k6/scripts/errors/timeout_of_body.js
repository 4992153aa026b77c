// A body that comes too slowly.
import http from 'k6/http';
export default function () { const r = http.get(`${__ENV.BASE}/bytes/1000?slow_body=5s`, { timeout: '200ms', tags: { name: 'slow' } }); console.log(r.status, r.error_code, r.error, r.body); }
