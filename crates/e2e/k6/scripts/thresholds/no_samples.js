// What nothing was measured of.
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
new Counter('cc'); new Gauge('gg'); new Rate('rr'); new Trend('tt');
export const options = { thresholds: { cc: ['count==0', 'count>0'], gg: ['value==0'], rr: ['rate>0.9', 'rate<0.1'], tt: ['p(95)<1', 'avg==0', 'min>0'] } };
export default function () {}
