// An arrival rate that ramps ends with its last iteration.
export { default, setup, teardown } from './told/seconds.js';

export const options = {
  scenarios: {
    ramp: {
      executor: 'ramping-arrival-rate', startRate: 4, preAllocatedVUs: 1,
      stages: [{ target: 4, duration: '400ms' }, { target: 0, duration: '0s' }, { target: 0, duration: '1600ms' }],
    },
  },
};
