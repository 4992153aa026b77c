// The options as they came to be.
import exec from 'k6/execution';
export const options = { vus: 1, iterations: 2, thresholds: { iterations: ['count>0'] }, tags: { a: 'b' }, userAgent: 'u' };
export default function () {
  if (__ITER > 0) return;
  const o = exec.test.options;
  console.log(Object.keys(o).join());
  console.log(o.userAgent, JSON.stringify(o.tags), JSON.stringify(o.thresholds), JSON.stringify(o.scenarios.default.executor), o.scenarios.default.iterations, o.scenarios.default.vus, o.rps, o.vus);
  try { o.userAgent = 'x'; console.log(o.userAgent); } catch (e) { console.log(e.name); }
}
