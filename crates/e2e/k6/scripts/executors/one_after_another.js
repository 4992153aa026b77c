// Scenarios that follow one another have the same virtual users: their numbers, iterations, variables of modules.
import exec from 'k6/execution';
import { sleep } from 'k6';

let seen = 0;

const short = { vus: 1, maxDuration: '1s', gracefulStop: '0s' };

export const options = {
  scenarios: {
    counted: { ...short, executor: 'per-vu-iterations', iterations: 2 },
    cut: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s', startTime: '1s', exec: 'slow' },
    at_once: { ...short, executor: 'shared-iterations', iterations: 2, startTime: '2s' },
    arrivals: {
      executor: 'constant-arrival-rate', rate: 2, timeUnit: '1500ms', duration: '1s', preAllocatedVUs: 1,
      gracefulStop: '0s', startTime: '4s', tags: { kind: 'open' },
    },
    ramp: {
      executor: 'ramping-vus', stages: [{ duration: '0s', target: 1 }, { duration: '500ms', target: 1 }],
      gracefulStop: '0s', gracefulRampDown: '0s', startTime: '5s', exec: 'slow', env: { OWN: 'yes' },
    },
  },
};

export default function once() {
  seen += 1;
  const { idInTest, iterationInInstance, iterationInScenario, tags } = exec.vu;
  console.log(
    exec.scenario.name, __VU, __ITER, seen, idInTest, iterationInInstance, iterationInScenario,
    exec.instance.vusInitialized, tags.kind, __ENV.OWN,
  );
}

export function slow() {
  exec.vu.tags.kind = 'slow';
  once();
  sleep(2);
}
