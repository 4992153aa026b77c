// Tags of a sample.
import { Counter } from 'k6/metrics';
const c = new Counter('tagged');
export default function () { c.add(1, { a: 'x' }); c.add(1, { a: 'y', n: 1, b: true }); c.add(1, {}); c.add(1, null); c.add(1, undefined); }
