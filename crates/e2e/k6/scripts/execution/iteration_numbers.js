//@ log: sorted
// Numbers of iterations over several virtual users.
import exec from 'k6/execution';
import { sleep } from 'k6';
export const options = { scenarios: { each: { executor: 'per-vu-iterations', vus: 2, iterations: 2 }, later: { executor: 'per-vu-iterations', vus: 2, iterations: 1, startTime: '500ms' } } };
export default function () { sleep(0.05); console.log(exec.scenario.name, exec.vu.idInTest === __VU, exec.vu.iterationInInstance, exec.vu.iterationInScenario, __ITER); }
