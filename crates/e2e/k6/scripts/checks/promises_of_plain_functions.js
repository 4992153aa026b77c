// A promise is true where the function is not async, and where there is no function.
import { check } from 'k6';
export default function () {
  console.log(check(1, { 'given by a function': () => Promise.resolve(false), 'itself': Promise.resolve(false) }));
}
