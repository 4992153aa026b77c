// The same for each.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2, iterations: 5, maxDuration: '1s', gracefulStop: '2s' } } };
export default function () { sleep(0.7); }
