//@ command: inspect
//@ args: --execution-requirements
//@ stdout: exact
// Options as they come to be, and how many virtual users and how long it takes.
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 3, duration: '10s' }, b: { executor: 'ramping-arrival-rate', startRate: 1, preAllocatedVUs: 2, maxVUs: 5, stages: [{ target: 5, duration: '1m' }], startTime: '10s', gracefulStop: '0s', exec: 'other', env: { A: 'b' }, tags: { c: 'd' } } }, thresholds: { http_req_duration: ['p(95)<500', { threshold: 'avg<100', abortOnFail: true, delayAbortEval: '10s' }] }, hosts: { 'a.test': '1.2.3.4' }, dns: { ttl: '1m', select: 'first' }, tlsVersion: { min: 'tls1.2', max: 'tls1.3' } };
export default function () {}
export function other() {}
