//@ plain
// All of what handleSummary is given.
import { Counter, Trend, Rate, Gauge } from 'k6/metrics'; import { check, group } from 'k6';
const c = new Counter('my_c'); const t = new Trend('my_t', true); const r = new Rate('my_r'); const g = new Gauge('my_g');
export const options = { iterations: 3, thresholds: { my_c: ['count>100', { threshold: 'rate>0', abortOnFail: false }], my_t: ['p(95)<10'], 'my_t{a:b}': ['avg<1'] }, tags: { run: 'tag' }, scenarios: { one: { executor: 'shared-iterations', iterations: 3, tags: { s: 't' } } } };
export function setup() { return { a: [1, { b: null }], s: 'x' }; }
export default function (data) { c.add(2); t.add(5, { a: 'b' }); t.add(7); r.add(true); g.add(3); check(1, { one: true, two: false }); group('g1', () => { check(1, { three: true }); group('g2', () => { }); }); console.log(JSON.stringify(data)); }
export function teardown(data) { console.log('td', JSON.stringify(data)); }
export function handleSummary(data) {
  console.log(JSON.stringify(data.options), JSON.stringify(data.root_group), Object.keys(data.metrics).sort().join(), JSON.stringify(data.setup_data), typeof data.state.testRunDurationMs, JSON.stringify(Object.keys(data.state).sort()));
  for (const m of ['my_c', 'my_t', 'my_r', 'my_g', 'checks', 'iterations', 'my_t{a:b}']) { const v = data.metrics[m]; if (v.values.rate !== undefined && m !== 'my_r' && m !== 'checks') delete v.values.rate; console.log(m, JSON.stringify(v)); }
  return {};
}
