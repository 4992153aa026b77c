// fail with and without a message.
import { fail } from 'k6';
export const options = { iterations: 3 };
export default function () {
  if (__ITER === 0) fail();
  if (__ITER === 1) fail('with words');
  try { fail('caught'); } catch (e) { console.log('caught', String(e)); }
}
