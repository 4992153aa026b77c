//@ stdout: exact
// A condition that waits when the end of its scenario cuts it short: what it looked at is not known, and not recorded.
import { check, sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s' } }, thresholds: { checks: ['rate==1'] } };
export default function () {
  check(1, { 'looked at': () => true, 'cut short': () => { sleep(5); return true; }, 'never reached': () => true });
  check(1, { 'never reached either': () => true });
}
export function handleSummary(data) { return { stdout: `${data.root_group.checks.map((one) => `${one.name}: ${one.passes} ${one.fails}`)}\n` }; }
