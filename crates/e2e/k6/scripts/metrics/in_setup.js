// Samples of setup and teardown.
import { Counter, Gauge } from 'k6/metrics';
const c = new Counter('steps'); const g = new Gauge('level');
export function setup() { c.add(1); g.add(5); }
export default function () { c.add(10); }
export function teardown() { c.add(100, { last: 'yes' }); g.add(1); }
