// What an iteration is told of itself.
import exec from 'k6/execution';
export const options = { scenarios: { named: { executor: 'per-vu-iterations', iterations: 2 } } };
export default function () {
  console.log(exec.vu.idInInstance, exec.vu.idInTest, exec.vu.iterationInInstance, exec.vu.iterationInScenario);
  console.log(exec.scenario.name, exec.scenario.executor, exec.scenario.iterationInInstance, exec.scenario.iterationInTest, typeof exec.scenario.startTime, exec.scenario.progress >= 0 && exec.scenario.progress <= 1);
  console.log(exec.instance.vusActive, exec.instance.vusInitialized, exec.instance.iterationsCompleted, exec.instance.iterationsInterrupted, exec.instance.currentTestRunDuration > 0);
  console.log(Object.keys(exec).sort().join(), Object.keys(exec.vu).sort().join(), Object.keys(exec.scenario).sort().join(), Object.keys(exec.instance).sort().join(), Object.keys(exec.test).sort().join());
}
