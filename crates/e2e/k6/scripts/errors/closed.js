// The server closes without an answer.
import http from 'k6/http';
export default function () { const r = http.get(`${__ENV.BASE}/get?close=1`, { tags: { name: 'closed' } }); console.log(r.status, r.error_code, r.error); }
