// One name in several groups is several checks.
import { check, group } from 'k6';
export default function () {
  for (const name of ['a', 'b', 'a']) group(name, () => check(name, { same: (v) => v === 'a' }));
  check('root', { same: () => true });
}
