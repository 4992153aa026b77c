//@ args: --iterations 1
// What is told of the options is told also where they are refused.
export const options = { nope: 1, vus: 2, scenarios: { a: { executor: 'per-vu-iterations' } } };
export default function () {}
