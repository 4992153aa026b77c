// Tags that a virtual user gives itself.
import http from 'k6/http';
import exec from 'k6/execution';
import { check, group } from 'k6';
export const options = { iterations: 2 };
export default function () {
  if (__ITER === 0) exec.vu.metrics.tags.step = 'one';
  http.get(`${__ENV.BASE}/get`);
  group('g', () => { exec.vu.metrics.tags.inner = 2; check(1, { c: true }); });
  delete exec.vu.metrics.tags.inner;
  console.log(exec.vu.metrics.tags.step, Object.keys(exec.vu.metrics.tags).sort().join());
}
