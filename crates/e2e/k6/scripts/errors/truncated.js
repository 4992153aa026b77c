//@ log: levels
// A body that ends early.
import http from 'k6/http';
export default function () { const r = http.get(`${__ENV.BASE}/bytes/1000?truncate=1`, { tags: { name: 'truncated' } }); if (r.status !== 0 && r.body !== null) console.error(r.status, r.error_code); }
