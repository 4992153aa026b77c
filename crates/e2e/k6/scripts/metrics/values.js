// What a value may be.
import { Counter, Trend } from 'k6/metrics';
const c = new Counter('my_counter'); const t = new Trend('my_trend');
export default function () {
  for (const v of [1, '2', true, false, 2.5, -1]) console.log(JSON.stringify(v), c.add(v), t.add(v));
  for (const v of [NaN, undefined, null, {}, [], 'x', '']) console.log(String(v), c.add(v));
  console.log(c.add(), t.name, Object.keys(c).join());
}
