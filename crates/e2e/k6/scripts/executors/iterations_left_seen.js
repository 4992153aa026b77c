//@ loud
//@ stdout: end
//@ not: iterations iteration_duration data_sent data_received vus vus_max
// What is shown of iterations that are left over when the time is up: cut short where they are shared, done where each has its own.
import { sleep } from 'k6';

export const options = {
  scenarios: {
    shared: { executor: 'shared-iterations', vus: 2, iterations: 40, maxDuration: '1s', gracefulStop: '1s' },
    own: { executor: 'per-vu-iterations', vus: 2, iterations: 40, maxDuration: '1s', gracefulStop: '1s' },
  },
};

export default function () {
  sleep(0.4);
}
