//@ not: iterations iteration_duration data_sent data_received bad
// A crossed threshold ends the run.
import { Rate } from 'k6/metrics';
import { sleep } from 'k6';
const bad = new Rate('bad');
export const options = { vus: 1, duration: '30s', thresholds: { bad: [{ threshold: 'rate<0.5', abortOnFail: true }] } };
export default function () { bad.add(1); sleep(0.1); }
export function teardown() { console.log('teardown'); }
