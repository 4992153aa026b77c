// Those that must go have so long to end.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'ramping-vus', startVUs: 2, gracefulRampDown: '100ms', gracefulStop: '100ms', stages: [{ duration: '300ms', target: 2 }, { duration: '0s', target: 1 }, { duration: '400ms', target: 1 }] } } };
export default function () { sleep(5); }
