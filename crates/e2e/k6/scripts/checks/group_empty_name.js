// Odd names.
import { check, group } from 'k6';
export default function () {
  group('', () => check(1, { 'in the nameless': true }));
  group('ümlaut & <tag>', () => check(1, { 'with "quotes"': true, '': true }));
  group(42, () => check(1, { number: true }));
}
