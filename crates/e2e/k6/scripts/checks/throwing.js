// A check that throws counts as failed, and the exception goes on.
import { check } from 'k6';
export default function () {
  try { check(1, { first: () => true, bad: () => { throw new Error('in a check'); }, never: () => true }); } catch (e) { console.log(e.message); }
  check(1, { outside: (v) => v.x.y });
  console.log('never');
}
