//@ args: --no-thresholds
// Thresholds can be left out; outputs tell of them all the same.
import { Counter } from 'k6/metrics';

const own = new Counter('own');

export const options = {
  thresholds: {
    iterations: ['count>100'],
    own: [{ threshold: 'count>5', abortOnFail: true }],
    'own{a:b}': ['count>7'],
    'absent{a:b}': ['count>7'],
  },
};

export default function () {
  own.add(1);
  own.add(1, { a: 'b' });
}
