// No samples in init.
import { Counter } from 'k6/metrics';
const c = new Counter('early');
try { console.log(c.add(1)); } catch (e) { console.log(e.message); }
export default function () { c.add(1); }
