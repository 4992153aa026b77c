//@ not: iterations iteration_duration data_sent data_received
// For a time.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'constant-vus', vus: 2, duration: '1s' } } };
export default function () { sleep(0.1); }
