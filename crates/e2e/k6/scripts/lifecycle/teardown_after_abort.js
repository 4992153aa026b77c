// No gauges of virtual users are told once a test was ended early.
import { sleep } from 'k6';
import exec from 'k6/execution';
export default function () { exec.test.abort('enough'); }
export function teardown() { sleep(2.3); }
