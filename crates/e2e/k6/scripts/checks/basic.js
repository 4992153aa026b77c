// Checks count, and return whether all held.
import { check } from 'k6';
export const options = { iterations: 3 };
export default function () {
  const all = check({ a: 1 }, { 'is one': (v) => v.a === 1, 'is even': () => __ITER % 2 === 0 });
  console.log(all);
}
