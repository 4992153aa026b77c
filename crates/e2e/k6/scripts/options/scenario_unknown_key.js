// A key that the executor has not.
export const options = { scenarios: { a: { executor: 'shared-iterations', iterations: 1, rate: 5 } } };
export default function () {}
