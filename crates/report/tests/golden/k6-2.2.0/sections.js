import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const c = new Counter('my_counter'), g = new Gauge('my_gauge'), r = new Rate('my_rate'), t = new Trend('my_trend', true), p = new Trend('plain_trend'), d = new Trend('data_trend'), n = new Trend('nosamples');
const cd = new Counter('c_time', true), cf = new Counter('float_c'), gt = new Gauge('g_time', true);
const cneg = new Counter('neg'), big = new Gauge('big');
export const options = {
  scenarios: { a: { executor: 'shared-iterations', vus: 2, iterations: 2, exec: 'a' }, b: { executor: 'per-vu-iterations', vus: 1, iterations: 2, exec: 'b', startTime: '1s' } },
  thresholds: { 'http_req_duration': ['p(95)<500', 'p(99.9)<1', 'avg<200'], 'http_req_duration{scenario:a}': ['max<1000'], 'http_req_failed': ['rate<0.01'], checks: ['rate>0.9'], my_counter: ['count>5', 'rate<1'], my_gauge: ['value<100'], nosamples: ['avg<5', 'p(95)<1'], 'my_trend{x:ünïcode}': ['med<3'], 'http_reqs{status:404,method:GET}': ['count<3'], 'iterations': ['rate>1'] , 'my_rate': ['rate==0.5'] },
};
const B = 'http://127.0.0.1:8080';
export function a() {
  http.get(B + '/get', { tags: { name: 'ok' } });
  check(null, { 'root ok': () => true });
  group('outer', () => {
    const res = http.get(B + '/status/404', { tags: { name: 'notfound' } });
    check(res, { 'status is 200': (x) => x.status === 200, 'always fails': () => false, 'ünïcode check': () => true });
    group('inner', () => { http.get(B + '/get'); });
    group('naïve grp', () => { check(1, { 'some': () => Math.random() > 0.3 }); });
  });
  group('second', () => { sleep(0.01); });
  c.add(1); g.add(42.5); r.add(true); t.add(123.456); p.add(0.5); cd.add(1234.5678); cf.add(0.1); cf.add(0.2); gt.add(0.00123);
  cneg.add(-3); big.add(1e21); t.add(1, {x:'ünïcode'});
  p.add(1e9 / 3); d.add(70000); t.add(70000); t.add(3700000.5); t.add(0.000962); t.add(-5);
}
export function b() { check(1, { 'b ok': () => true }); c.add(2); sleep(0.05); r.add(false); }
export function handleSummary(data){ console.log(JSON.stringify(data)); }
