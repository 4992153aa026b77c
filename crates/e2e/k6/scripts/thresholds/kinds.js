// Every method of every kind, kept and crossed.
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const c = new Counter('cc'); const g = new Gauge('gg'); const r = new Rate('rr'); const t = new Trend('tt');
export const options = { thresholds: { cc: ['count==3', 'count>5', 'rate>0'], gg: ['value<=7', 'value>7'], rr: ['rate>0.4', 'rate<0.4'], tt: ['avg<3', 'min>=1', 'max<3', 'med==2', 'p(50)===2', 'p(95)!=2.9', 'p(99.9) < 2'] } };
export default function () { c.add(3); g.add(7); r.add(1); r.add(0); for (const v of [1, 2, 3]) t.add(v); }
