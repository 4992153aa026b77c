//@ not: iterations iteration_duration data_sent data_received
import { check, group } from 'k6';
import exec from 'k6/execution';

export default function () {
  console.log(check(1, 'ab'), check(1, ''), check(1, 5), check(1, true), check(1, [true, 0]));
  check(1, { tagged: true }, 'xy');
  check(1, { tagged: true }, 5);
  exec.vu.tags.group = 'own';
  check(1, { 'of an own group': true });
  group('within', () => check(1, { 'in it': true }));
  group('outer', () => group(null, () => check(1, { 'in no name': true })));
}
