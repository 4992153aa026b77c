// A test that ends itself.
import exec from 'k6/execution';
export const options = { iterations: 5 };
export default function () { if (__ITER === 1) exec.test.abort('enough'); console.log(__ITER); }
export function teardown() { console.log('teardown'); }
export function handleSummary(data) { console.log('summary', data.metrics.iterations.values.count); return {}; }
