//@ not: dropped_iterations
// More virtual users are made while there may be.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'constant-arrival-rate', rate: 4, duration: '1100ms', preAllocatedVUs: 5, maxVUs: 8 } } };
export default function () { sleep(1.3); }
