// URLs that cannot be read.
import http from 'k6/http';
export default function () { for (const u of ['http://a b.c/', 'http://[::1', 'http://127.0.0.1:port/', 'http://%zz/']) { const r = http.get(u); console.log(r.status, r.error_code, r.error); } }
