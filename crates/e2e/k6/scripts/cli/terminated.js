//@ signal: TERM 700
//@ not: iterations iteration_duration data_sent data_received
// The other signal.
import { sleep } from 'k6';
export const options = { vus: 1, duration: '60s' };
export default function () { sleep(0.1); }
