//@ stdout
//@ log: none
// Checks and groups are listed by the tags of their samples, whoever makes them.
import { check, group } from 'k6';
import { Counter, Rate } from 'k6/metrics';
const rate = new Rate('checks');
const counter = new Counter('counter');
export default function () {
  rate.add(true, { check: 'own' });
  rate.add(0, { check: 'own' });
  rate.add(2, { check: 'deep', group: '::M::N' });
  rate.add(true, { check: 'no path', group: 'plain' });
  rate.add(true, { check: 'with::colons' });
  rate.add(false);
  counter.add(1, { group: '::not a group', check: 'not a check' });
  check(1, { moved: true }, { group: '::G' });
  check(1, { stays: true }, { check: 'renamed' });
  group('outer', () => { group('empty', () => {}); check(1, { inside: true }); });
}
