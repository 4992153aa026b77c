//@ args: --system-tags proto,status,vu,iter
// Another set of the system's own tags.
import http from 'k6/http';
export default function () { http.get(`${__ENV.BASE}/get`); }
