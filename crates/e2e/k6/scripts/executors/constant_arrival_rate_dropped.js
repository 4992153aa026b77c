// Starts without a free virtual user are dropped.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'constant-arrival-rate', rate: 10, duration: '1050ms', preAllocatedVUs: 1 } } };
export default function () { sleep(5); }
