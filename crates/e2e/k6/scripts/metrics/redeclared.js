// One name twice.
import { Counter, Trend } from 'k6/metrics';
const one = new Counter('twice'); const two = new Counter('twice');
for (const f of [() => new Trend('twice'), () => new Counter('twice', true), () => new Counter('http_reqs'), () => new Trend('http_reqs'), () => new Trend('http_req_duration', true), () => new Trend('http_req_duration')]) { try { f(); console.log('fine'); } catch (e) { console.log(e.message); } }
export default function () { one.add(1); two.add(2); }
