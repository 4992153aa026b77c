//@ args: --execution-segment 0:1/4 --execution-segment-sequence 0,1/4,1/2,3/4,1
//@ loud
//@ stdout: plan
//@ log: sorted
// Arrivals are divided as the virtual users are: of five, the first quarter has two.
import exec from 'k6/execution';
export const options = { scenarios: {
  even: { executor: 'constant-arrival-rate', rate: 20, duration: '1040ms', preAllocatedVUs: 5 },
  ramp: { executor: 'ramping-arrival-rate', startRate: 20, preAllocatedVUs: 5, stages: [{ duration: '1040ms', target: 20 }] },
} };
export default function () { console.log(exec.scenario.name, exec.scenario.iterationInInstance, exec.scenario.iterationInTest); }
export function handleSummary() { return { stdout: '' }; }
