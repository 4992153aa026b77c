// A stage of no time is a jump.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'ramping-vus', startVUs: 1, stages: [{ duration: '0s', target: 3 }, { duration: '400ms', target: 3 }] } } };
export default function () { sleep(0.7); }
