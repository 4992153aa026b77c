// Names that are none.
import { Counter } from 'k6/metrics';
for (const name of ['ok', 'a', '1abc', 'has-dash', 'has space', 'ünder', '', 'x'.repeat(128), 'x'.repeat(129), '_under', 'CamelCase9']) {
  try { console.log(new Counter(name).name.length); } catch (e) { console.log(e.message); }
}
export default function () {}
