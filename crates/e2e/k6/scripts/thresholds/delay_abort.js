//@ not: iterations iteration_duration data_sent data_received bad
// Not before that time has passed.
import { Rate } from 'k6/metrics';
import { sleep } from 'k6';
const bad = new Rate('bad');
export const options = { vus: 1, duration: '2500ms', thresholds: { bad: [{ threshold: 'rate<0.5', abortOnFail: true, delayAbortEval: '20s' }] } };
export default function () { bad.add(1); sleep(0.2); }
