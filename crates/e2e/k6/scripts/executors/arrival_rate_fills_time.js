// A constant arrival rate lasts as long as it says.
export { default, setup, teardown } from './told/seconds.js';

export const options = {
  scenarios: {
    constant: { executor: 'constant-arrival-rate', rate: 2, timeUnit: '3s', duration: '2s', preAllocatedVUs: 1 },
  },
};
