//@ log: levels
// Module code that ends the test in a virtual user: neither setup() nor teardown() runs.
import exec from 'k6/execution';
export const options = { vus: 1, iterations: 2 };
if (__VU > 0) exec.test.abort('in its init');
export function setup() { console.log('set up'); return 1; }
export default function () { console.log('never'); }
export function teardown() { console.log('torn down'); }
export function handleSummary() { return {}; }
