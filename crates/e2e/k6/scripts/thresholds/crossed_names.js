// The crossed ones are named in order.
import { Counter } from 'k6/metrics';
const b = new Counter('bbb'); const a = new Counter('aaa');
export const options = { thresholds: { bbb: ['count>5'], aaa: ['count>5'], iterations: ['count>0'] } };
export default function () { a.add(1); b.add(1); }
