//@ args: --summary-mode full
//@ stdout
// The long one with several scenarios.
import { check, group } from 'k6';
export const options = { scenarios: { beta: { executor: 'shared-iterations' }, alpha: { executor: 'per-vu-iterations', iterations: 2, exec: 'other', startTime: '300ms' } } };
export default function () { check(1, { 'beta check': true }); }
export function other() { group('g', () => check(1, { 'alpha check': __ITER === 0 })); }
