//@ args: --iterations 0x3 --vus 0b11
// Whole numbers of flags are written as in Go.
import exec from 'k6/execution';
export default function () {
  if (exec.scenario.iterationInTest === 0) console.log(exec.test.options.iterations, exec.test.options.vus);
}
