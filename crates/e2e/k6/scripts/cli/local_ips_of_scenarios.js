//@ args: --local-ips 127.0.0.2-127.0.0.5
//@ log: sorted
// An address belongs to a virtual user, whatever its scenario.
import http from 'k6/http';
import exec from 'k6/execution';
import { sleep } from 'k6';
const two = { executor: 'per-vu-iterations', vus: 2, iterations: 1 };
export const options = { scenarios: { a: two, b: two } };
export function setup() { console.log('setup', from()); }
export default function () { console.log(exec.vu.idInTest, from()); sleep(0.2); }
function from() { return http.get(`${__ENV.BASE}/ip`).json('origin').split(':')[0]; }
