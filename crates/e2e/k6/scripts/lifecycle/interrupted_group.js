//@ not: iterations iteration_duration data_sent data_received
//@ log: none
// A group that the end cut short is listed for the checks in it, or not at all.
import { check, group, sleep } from 'k6';
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s' } } };
export default function () {
  group('done', () => {});
  group('checked', () => { check(1, { c: true }); group('cut', () => sleep(5)); });
}
