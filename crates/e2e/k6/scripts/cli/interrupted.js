//@ signal: INT 700
//@ not: iterations iteration_duration data_sent data_received
// A signal ends the run, with teardown and summary.
import { sleep } from 'k6';
export const options = { vus: 1, duration: '60s' };
export default function () { sleep(0.1); }
export function teardown() { console.log('teardown'); }
export function handleSummary() { console.log('summary'); return {}; }
