// Without the tag of expected answers there is no submetric for it.
import http from 'k6/http';
export const options = { systemTags: ['status', 'method'] };
export default function () { http.get(`${__ENV.BASE}/status/404`); }
