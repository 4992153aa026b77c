// Parts of a metric by tag.
import http from 'k6/http';
import { Counter } from 'k6/metrics';
const c = new Counter('orders');
export const options = { thresholds: { 'orders{kind:a}': ['count==2'], 'orders{kind:b}': ['count>5'], 'orders{kind:a,place:x}': ['count==1'], 'orders{kind:none}': ['count==0'], 'http_reqs{status:200}': ['count==1'], 'http_req_duration{name:get}': ['p(95)<5000'], 'http_req_failed{expected_response:false}': ['rate==1'], 'checks{check:nothing}': ['rate>0.9'] } };
export default function () { c.add(1, { kind: 'a', place: 'x' }); c.add(1, { kind: 'a', place: 'y' }); c.add(1, { kind: 'b' }); http.get(`${__ENV.BASE}/get`, { tags: { name: 'get' } }); http.get(`${__ENV.BASE}/status/500`, { tags: { name: 'bad' } }); }
