// A test that is marked as failed ends as that, whatever its thresholds say.
import exec from 'k6/execution';
export const options = { iterations: 2, thresholds: { iterations: ['count>5'] } };
export default function () { if (__ITER === 0) exec.test.fail('not good'); }
