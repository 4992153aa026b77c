//@ log: sorted
// Scenarios side by side, each with its own tags and metrics.
import http from 'k6/http';
import { check } from 'k6';
export const options = { scenarios: { browse: { executor: 'per-vu-iterations', vus: 2, iterations: 3, exec: 'browse', tags: { part: 'b' } }, buy: { executor: 'shared-iterations', vus: 1, iterations: 2, exec: 'buy', env: { PATH_TO: 'post' } } } };
export function browse() { check(http.get(`${__ENV.BASE}/get`), { 'browse ok': (r) => r.status === 200 }); }
export function buy() { check(http.post(`${__ENV.BASE}/${__ENV.PATH_TO}`, 'x'), { 'buy ok': (r) => r.status === 200 }); }
