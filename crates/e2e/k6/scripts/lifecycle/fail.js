// fail() ends the iteration, and the run is fine.
import { fail } from 'k6';
export const options = { iterations: 2 };
export default function () {
  if (__ITER === 0) fail('on purpose');
  console.log('second');
}
