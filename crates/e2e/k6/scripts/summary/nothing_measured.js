//@ stdout
// Thresholds on what nothing was measured of.
import { Counter, Rate, Trend } from 'k6/metrics';
new Counter('cc'); new Rate('rr'); new Trend('tt', true);
export const options = { thresholds: { cc: ['count==0'], rr: ['rate>0.9'], tt: ['p(95)<1'], checks: ['rate>0.9'], 'http_req_duration{name:none}': ['avg<1'] } };
export default function () {}
