//@ env: K6_ITERATIONS=2
// So does one in a variable.
export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 3, iterations: 3 } } };
export default function () {}
