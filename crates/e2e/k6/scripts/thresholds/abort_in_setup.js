// A threshold that ends the test ends setup() too: no iteration, no teardown().
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';
const counted = new Counter('counted');
export const options = { thresholds: { counted: [{ threshold: 'count<1', abortOnFail: true }] } };
export function setup() {
  counted.add(5);
  sleep(10);
  console.log('not reached');
}
export default function () {}
export function teardown() {
  console.log('not reached either');
}
