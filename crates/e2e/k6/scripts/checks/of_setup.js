//@ stdout
//@ args: --summary-mode=full
// Checks and groups of setup() come first, those of teardown() last.
import { check, group, sleep } from 'k6';
export function setup() { sleep(0.2); check(1, { 'z: of setup': true }); group('z: set up', () => check(1, { deep: true })); }
export default function () { check(1, { 'a: of an iteration': true }); group('a: group', () => check(1, { deep: true })); }
export function teardown() { check(1, { '0: of teardown': true }); }
