// Adding to a builtin metric.
import { Counter, Rate } from 'k6/metrics';
const reqs = new Counter('http_reqs'); const checks = new Rate('checks');
export default function () { reqs.add(5); checks.add(false); console.log(reqs.name); }
