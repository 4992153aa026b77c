//@ args: --no-vu-connection-reuse
// Connections end with the iteration.
import http from 'k6/http';
export const options = { iterations: 2 };
export default function () { console.log(http.get(`${__ENV.BASE}/ok`).timings.connecting > 0, http.get(`${__ENV.BASE}/ok`).timings.connecting); }
