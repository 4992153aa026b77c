//@ args: --execution-segment 1/2:1 --execution-segment-sequence 0,1/2,1
//@ log: sorted
// A part that is run alone counts its virtual users itself, over all scenarios.
import exec from 'k6/execution';
import { sleep } from 'k6';
const one = { executor: 'per-vu-iterations', vus: 4 };
export const options = { scenarios: { a: one, b: { ...one, vus: 5 } } };
export default function () {
  console.log(__VU, exec.vu.idInInstance, exec.vu.idInTest);
  sleep(0.2);
}
