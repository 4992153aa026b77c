//@ args: --execution-segment 1/3:2/3 --execution-segment-sequence 0,1/3,2/3,1
//@ log: sorted
// A third of the starts.
import exec from 'k6/execution';
export const options = { scenarios: { s: { executor: 'constant-arrival-rate', rate: 12, duration: '1040ms', preAllocatedVUs: 6 } } };
export default function () { console.log(exec.scenario.iterationInInstance, exec.scenario.iterationInTest); }
