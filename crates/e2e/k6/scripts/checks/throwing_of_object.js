// What a condition throws is thrown, whatever value it was given.
import { check } from 'k6';
import { Counter } from 'k6/metrics';
const thrown = new Counter('thrown');
export default function () {
  for (const value of [{}, [], () => 1, 'text', new Date(0), null]) {
    try {
      check(value, { 'throws an error': () => { throw new Error('of the condition'); } });
    } catch (error) {
      console.log(String(error));
      thrown.add(1);
    }
  }
  check({}, { 'has no such property': (it) => it.none.at_all });
}
