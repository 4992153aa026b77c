//@ stdout: exact
//@ log: none
// What handleSummary makes of its argument is what is exported; a rejection that nobody hears ends nothing.
import { Counter } from 'k6/metrics';
import { check, group } from 'k6';
const counter = new Counter('counter');
export default function () { counter.add(1); group('g', () => check(1, { holds: true })); }
export function handleSummary(data) {
  const keys = Object.keys(data).sort().join();
  for (const name of Object.keys(data.metrics)) if (name !== 'checks') delete data.metrics[name];
  data.metrics.fake = { type: 'counter', contains: 'default', values: { count: 7 }, thresholds: { 'count>9': { ok: false } } };
  data.own = { said: keys };
  Promise.reject(new Error('nobody hears'));
  return { stdout: `${keys} ${data.setup_data}\n` };
}
