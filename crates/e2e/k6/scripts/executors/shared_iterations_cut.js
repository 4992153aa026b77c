// What was not begun in time is dropped.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 1, iterations: 10, maxDuration: '1s', gracefulStop: '2s' } } };
export default function () { sleep(0.7); }
