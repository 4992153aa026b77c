// URLs that no request can be made of.
import http from 'k6/http';
export default function () { for (const u of ['nope', 'ftp://127.0.0.1/x', '', '/relative']) { const r = http.get(u); console.log(r.status, r.error_code, r.error); } }
