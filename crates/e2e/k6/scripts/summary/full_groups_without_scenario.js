//@ args: --summary-mode full --system-tags group,check,method
//@ stdout
// Groups are shown at the top where the tag of the scenario is off.
import { check, group } from 'k6';
import { Counter } from 'k6/metrics';
const seen = new Counter('seen');
export function setup() { group('s', () => { check(1, { before: () => true }); }); }
export default function () {
  group('g', () => {
    check(1, { in_g: () => true });
    seen.add(2);
    group('h', () => { check(1, { in_h: () => false }); });
  });
  group('z', () => {});
}
