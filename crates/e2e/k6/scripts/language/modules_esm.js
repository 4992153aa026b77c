// Named, default, renamed and namespace imports, live bindings, re-exports, cycles.
import fallback, { count, bump, rename as other } from './lib/counter.js';
import * as all from './lib/index.js';
import { even } from './lib/cycle_a.js';
export const options = { iterations: 1 };
export default function () {
  console.log(fallback(), count, other);
  bump();
  console.log(count, Object.keys(all).sort().join());
  console.log(all.area(2), even(10), even(7), typeof import.meta.url);
  try { all.area = 1; } catch (e) { console.log(e.name); }
}
