//@ args: --env RAMP=yes
// A constant arrival rate lasts as long as it says; one that ramps ends with its last iteration.
import exec from 'k6/execution';

const one = { preAllocatedVUs: 1 };

export const options = {
  scenarios: {
    constant: { ...one, executor: 'constant-arrival-rate', rate: 2, timeUnit: '3s', duration: '2s' },
  },
};

if (__ENV.RAMP) {
  options.scenarios = {
    ramp: {
      ...one, executor: 'ramping-arrival-rate', startRate: 4,
      stages: [{ target: 4, duration: '400ms' }, { target: 0, duration: '0s' }, { target: 0, duration: '1600ms' }],
    },
  };
}

export function setup() {
  return Date.now();
}

const second = (start) => Math.floor((Date.now() - start) / 1000);

export default function (start) {
  console.log(exec.scenario.name, 'in second', second(start));
}

export function teardown(start) {
  console.log('ended in second', second(start));
}
