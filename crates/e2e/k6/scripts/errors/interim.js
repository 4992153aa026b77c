// Interim answers come before the answer.
import http from 'k6/http';
export default function () { const r = http.get(`${__ENV.BASE}/get?interim=3`, { tags: { name: 'interim' } }); console.log(r.status); }
