//@ log: levels
// What comes is no HTTP.
import http from 'k6/http';
export default function () { const r = http.get(`${__ENV.BASE}/get?garbage=1`, { tags: { name: 'garbage' } }); if (r.status !== 0) console.error(r.status); }
