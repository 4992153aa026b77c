//@ args: --execution-segment 3/4:1 --execution-segment-sequence 0,1/4,1/2,3/4,1
//@ loud
//@ stdout: plan
// A segment that has none of the virtual users has none of the arrivals, and drops none.
export const options = { scenarios: {
  none: { executor: 'constant-arrival-rate', rate: 20, duration: '1s', preAllocatedVUs: 3 },
  one: { executor: 'per-vu-iterations', vus: 4, exec: 'once' },
} };
export default function () { console.log('not here'); }
export function once() { console.log('here'); }
export function handleSummary() { return { stdout: '' }; }
