//@ stdout
// The usual summary: thresholds, checks, custom metrics, requests.
import http from 'k6/http';
import { check, group } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const c = new Counter('my_counter'); const g = new Gauge('my_gauge'); const r = new Rate('my_rate'); const t = new Trend('my_trend', true); const p = new Trend('plain_trend');
export const options = { iterations: 3, thresholds: { checks: ['rate>0.9'], my_counter: ['count>5'], 'my_trend{k:v}': ['avg<200'], my_gauge: ['value<100'], http_req_failed: ['rate<0.01'] } };
export default function () {
  check(http.get(`${__ENV.BASE}/get`), { 'status is 200': (x) => x.status === 200, 'always fails': () => false });
  http.get(`${__ENV.BASE}/status/404`, { tags: { name: 'notfound' } });
  group('outer', () => { check(1, { 'in the group': true }); group('inner', () => {}); });
  c.add(2); g.add(42.5); r.add(__ITER === 0); t.add(123.456, { k: 'v' }); p.add(0.5);
}
