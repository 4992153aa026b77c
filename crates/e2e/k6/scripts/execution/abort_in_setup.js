// Ending in setup.
import exec from 'k6/execution';
export function setup() { exec.test.abort('not today'); }
export default function () { console.log('never'); }
export function teardown() { console.log('teardown'); }
