// The virtual user that a ramp reaches at its very end is reserved, beside those of other scenarios.
//@ not: iterations iteration_duration data_sent data_received
import { sleep } from 'k6';
export const options = { scenarios: {
  others: { executor: 'constant-vus', vus: 2, duration: '1200ms', exec: 'nap' },
  a_ramp: { executor: 'ramping-vus', startVUs: 1, stages: [{ duration: '1200ms', target: 2 }], exec: 'nap' },
} };
export function nap() { sleep(0.1); }
export function handleSummary(data) { console.log('VUs', data.metrics.vus_max.values.max); return {}; }
