// Scenarios and a shortcut beside them.
export const options = { vus: 3, iterations: 3, scenarios: { a: { executor: 'shared-iterations' } } };
export default function () {}
