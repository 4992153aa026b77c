//@ args: --throw
// With --throw a wrong value is an exception.
import { Counter } from 'k6/metrics';
const c = new Counter('my_counter');
export default function () { try { c.add('x'); console.log('fine'); } catch (e) { console.log(e.message); } c.add({}); }
