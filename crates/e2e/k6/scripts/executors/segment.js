//@ args: --execution-segment 0:1/2 --execution-segment-sequence 0,1/2,1
// The first half of a plan.
export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 4, iterations: 11 }, p: { executor: 'per-vu-iterations', vus: 3, iterations: 2 } } };
export default function () {}
