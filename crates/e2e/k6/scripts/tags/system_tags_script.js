// The same from the script.
import http from 'k6/http';
export const options = { systemTags: ['method', 'ip', 'url', 'scenario'] };
export default function () { http.get(`${__ENV.BASE}/get`); }
