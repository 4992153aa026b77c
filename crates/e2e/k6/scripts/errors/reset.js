//@ log: levels
// The server cuts the connection instead of answering.
import http from 'k6/http';
export default function () { const r = http.get(`${__ENV.BASE}/get?reset=1`, { tags: { name: 'reset' } }); if (r.status !== 0 || r.error_code !== 1220) console.error(r.status, r.error_code, r.error); }
