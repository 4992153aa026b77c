//@ log: sorted
// Each iteration of a scenario has a number of its own.
import exec from 'k6/execution';
export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 3, iterations: 6 } } };
export default function () { console.log(exec.scenario.iterationInTest); }
