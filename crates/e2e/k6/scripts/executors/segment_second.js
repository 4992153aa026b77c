//@ args: --execution-segment 1/2:1 --execution-segment-sequence 0,1/2,1
//@ log: sorted
// The second half, with numbers of its own.
import exec from 'k6/execution';
export const options = { scenarios: { p: { executor: 'per-vu-iterations', vus: 4, iterations: 1 } } };
export default function () { console.log(exec.vu.idInInstance, exec.vu.idInTest); }
