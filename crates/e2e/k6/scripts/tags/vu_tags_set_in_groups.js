// Tags that are set or removed within a group stay when it is left; the group's own does not.
import exec from 'k6/execution';
import { group } from 'k6';
export const options = { vus: 1, iterations: 2 };
export default function () {
  if (__ITER === 0) group('outer', () => { exec.vu.metrics.tags.kept = 'yes'; exec.vu.metrics.tags.gone = 'no'; });
  else group('outer', () => group('inner', () => { delete exec.vu.metrics.tags.gone; }));
}
