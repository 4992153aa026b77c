// Progress of a scenario of several iterations.
import exec from 'k6/execution';
export const options = { scenarios: { s: { executor: 'shared-iterations', iterations: 4 } } };
export default function () { console.log(exec.scenario.progress); }
