// The others have iterations that wait for nothing: none of them starts more once the test is aborted.
//@ not: iterations iteration_duration data_sent data_received
import exec from 'k6/execution';
export const options = { vus: 10, iterations: 100000 };
export default function () { if (exec.scenario.iterationInTest === 5) exec.test.abort('enough'); }
export function handleSummary(data) { console.log('few', data.metrics.iterations.values.count < 50); return {}; }
