// Tags and metadata that setup() and teardown() set are on the bytes of their own connections, and on nobody else's.
import exec from 'k6/execution';
import { group } from 'k6';
export function setup() {
  exec.vu.metrics.tags.hook = 'setup';
  exec.vu.metrics.metadata.trace = '1';
  group('inside', () => { exec.vu.metrics.tags.deep = 'yes'; });
}
export default function () { exec.vu.metrics.tags.step = 'default'; }
export function teardown() {
  exec.vu.metrics.tags.hook = 'teardown';
  delete exec.vu.metrics.tags.hook;
  exec.vu.metrics.tags.last = 'yes';
}
