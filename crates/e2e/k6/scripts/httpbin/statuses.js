// Statuses and their codes.
import http from 'k6/http';
export default function () { for (const s of [200, 201, 204, 400, 403, 404, 500, 502]) { const r = http.get(`${__ENV.BASE}/status/${s}`, { tags: { name: 'status' } }); console.log(r.status, r.error_code); } }
