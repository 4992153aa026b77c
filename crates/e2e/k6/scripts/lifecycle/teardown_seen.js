//@ loud
//@ stdout: end
//@ not: iterations iteration_duration data_sent data_received vus vus_max
// What is shown after a teardown(): scenarios stand where they ended, and the test's time has gone on.
import { sleep } from 'k6';

export const options = {
  scenarios: {
    counted: { executor: 'shared-iterations', vus: 2, iterations: 4 },
    looping: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s' },
    later: { executor: 'constant-vus', vus: 1, duration: '1s', startTime: '1s' },
  },
};

export default function () {
  sleep(0.3);
}

export function teardown() {
  sleep(1.5);
}
