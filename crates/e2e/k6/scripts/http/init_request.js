// No requests in init.
import http from 'k6/http';
http.get(`${__ENV.BASE}/get`);
export default function () {}
