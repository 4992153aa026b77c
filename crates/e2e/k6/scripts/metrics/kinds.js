// The four kinds and what their values become.
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const c = new Counter('a_counter'); const g = new Gauge('a_gauge'); const r = new Rate('a_rate'); const t = new Trend('a_trend'); const tt = new Trend('a_time', true); const cd = new Counter('a_time_counter', true);
export const options = { iterations: 4 };
export default function () {
  c.add(__ITER); c.add(0.5); g.add(10 - __ITER); r.add(__ITER % 2); r.add(true); t.add(__ITER * 10); tt.add(1.5 + __ITER); cd.add(2);
}
