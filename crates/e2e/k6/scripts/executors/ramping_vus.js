// Virtual users come and go by stages.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'ramping-vus', startVUs: 0, stages: [{ duration: '1s', target: 4 }] } } };
export default function () { sleep(3); }
