//@ args: --tag from=flag --tag both=flag
// Tags of the run, of the scenario, of the request: which of them wins.
import http from 'k6/http';
import { Counter } from 'k6/metrics';
import { check } from 'k6';
const counter = new Counter('own');
export const options = { tags: { from_script: 'yes', both: 'script' }, scenarios: { s: { executor: 'shared-iterations', tags: { scenario_tag: 'st', level: 'scenario' } } } };
export default function () {
  http.get(`${__ENV.BASE}/get`, { tags: { level: 'request', request: 1, yes: true } });
  counter.add(1, { level: 'metric' });
  counter.add(2);
  check(1, { c: true });
}
