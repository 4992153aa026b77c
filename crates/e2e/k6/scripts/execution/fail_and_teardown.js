// Where teardown() throws, that is how the test ends, and not its mark as failed.
import exec from 'k6/execution';
export const options = { thresholds: { iterations: ['count>5'] } };
export default function () { exec.test.fail('not good'); }
export function teardown() { throw new Error('late'); }
