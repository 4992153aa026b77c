// Tags of a check.
import { check } from 'k6';
export default function () {
  check(1, { tagged: () => true }, { kind: 'a', n: 2 });
  check(1, { tagged: () => false }, { kind: 'b' });
}
