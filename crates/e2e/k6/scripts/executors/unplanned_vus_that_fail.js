//@ log: levels
//@ stdout: exact
//@ not: dropped_iterations iterations iteration_duration data_sent data_received
// Module code that throws, or ends the test, in virtual users beyond those of the start: the run does without them.
import exec from 'k6/execution';
import { sleep } from 'k6';
export const options = {
  scenarios: { s: { executor: 'constant-arrival-rate', rate: 10, timeUnit: '1s', duration: '1500ms', preAllocatedVUs: 1, maxVUs: 3 } },
};
if (__VU === 2) throw new Error('no virtual user 2');
if (__VU === 3) exec.test.abort('no virtual user 3');
export default function () { sleep(0.35); }
export function handleSummary(data) { return { stdout: `${data.metrics.vus_max.values.max} virtual user\n` }; }
