// A certificate of an unknown authority.
import http from 'k6/http';
export default function () { const r = http.get(`${__ENV.BASE_TLS}/get`); console.log(r.status, r.error_code, r.error); }
