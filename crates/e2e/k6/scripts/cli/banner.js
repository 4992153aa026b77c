//@ loud
//@ stdout: plan
//@ not: iterations iteration_duration data_sent data_received
// What is told of the plan and of progress.
export const options = { scenarios: { a: { executor: 'shared-iterations', vus: 2, iterations: 6, exec: 'a' }, b: { executor: 'constant-arrival-rate', rate: 5, duration: '1s', preAllocatedVUs: 2, maxVUs: 4, startTime: '1s' }, c: { executor: 'ramping-vus', stages: [{ duration: '1s', target: 2 }], gracefulStop: '3s', exec: 'a' } } };
import { sleep } from 'k6';
export default function () {}
export function a() { sleep(0.01); }
export function handleSummary() { return { stdout: '' }; }
