//@ file: data.json
// The shape of the data: types, contents and groups with checks.
import { check, group } from 'k6';
import { Gauge, Rate, Trend } from 'k6/metrics';
const canon = (v) => JSON.stringify(v, (k, x) => (x && typeof x === 'object' && !Array.isArray(x) ? Object.fromEntries(Object.entries(x).sort()) : x), 1);
const gauge = new Gauge('a_gauge'); const rate = new Rate('a_rate'); const trend = new Trend('a_trend', true);
export const options = { iterations: 2, thresholds: { 'a_trend{k:v}': ['avg<10'], checks: ['rate>0.9'] } };
export default function () {
  gauge.add(__ITER + 1); rate.add(__ITER === 0); trend.add(10 * (__ITER + 1), { k: 'v' });
  group('outer', () => { check(1, { 'in outer': () => true }); group('inner', () => check(1, { 'in inner': () => __ITER === 0 })); });
  check(1, { root: () => true });
}
export function handleSummary(data) {
  const own = Object.entries(data.metrics).filter(([name]) => /^(a_|checks)/.test(name));
  const shapes = Object.entries(data.metrics).map(([name, m]) => `${name} ${m.type} ${m.contains} ${Object.keys(m.values).sort()}`).filter((l) => !l.startsWith('vus')).sort();
  return { 'data.json': canon({ groups: data.root_group, own: own.sort(), shapes }) };
}
