import { check, group, sleep } from 'k6';
import { Gauge, Counter, Trend } from 'k6/metrics';
export const options = { scenarios: { only: { executor: 'shared-iterations', vus: 1, iterations: 1 } }, thresholds: {'nope_c': ['count<1'], 'nope_r':['rate<1','rate>0.3'], nope_g: ['value<1'], nope_t: ['avg>5', 'p(99)<1'], 'checks': ['rate>0.5'], nope_data:['count<10'], http_req_duration:['max<1','p(95)<1'], http_req_failed:['rate<0.1'], http_reqs:['count<1'] } };
import { Rate } from 'k6/metrics';
new Counter('nope_c'); new Rate('nope_r'); new Gauge('nope_g'); new Trend('nope_t', true);new Counter('nope_data');
export default function () { group('gg', () => { }); }
export function handleSummary(data){ console.log(JSON.stringify(data)); }
