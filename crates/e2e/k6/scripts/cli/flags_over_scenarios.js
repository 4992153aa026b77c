//@ args: --iterations 2
// A shortcut on the command line replaces all scenarios.
export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 3, iterations: 3 } } };
export default function () {}
