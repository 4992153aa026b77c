// Iterations shared among virtual users.
export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 3, iterations: 10 } } };
export default function () {}
