//@ args: --execution-segment 1/4:1/2 --execution-segment-sequence 1/4,1/2
// A sequence that leaves out its ends is shown as it was given.
import exec from 'k6/execution';
export const options = { vus: 8, iterations: 16 };
export default function () {
  if (exec.scenario.iterationInInstance === 0) console.log(exec.test.options.executionSegmentSequence, exec.scenario.iterationInTest);
}
