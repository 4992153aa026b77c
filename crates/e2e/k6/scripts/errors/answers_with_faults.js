// Server errors by probability one.
import http from 'k6/http';
export default function () { const r = http.get(`${__ENV.BASE}/get?fail=1&fail_status=503`, { tags: { name: 'fail' } }); console.log(r.status, r.error_code, `[${r.error}]`); }
