//@ args: --local-ips 127.0.0.2,127.0.0.3
//@ log: sorted
// Addresses of one's own.
import http from 'k6/http';
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2, iterations: 1 } } };
export default function () { console.log(http.get(`${__ENV.BASE}/ip`).json('origin').split(':')[0]); }
