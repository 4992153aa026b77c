//@ loud
//@ stdout: end
//@ log: none
//@ signal: INT 1700
//@ not: iterations iteration_duration data_sent data_received vus vus_max
// What is shown of scenarios when a test is interrupted: those that had ended are done, and one that had not begun waits.
import { sleep } from 'k6';

export const options = {
  scenarios: {
    looping: { executor: 'constant-vus', vus: 2, duration: '20s' },
    later: { executor: 'ramping-vus', stages: [{ duration: '10s', target: 3 }], startTime: '5s' },
    counted: { executor: 'shared-iterations', vus: 2, iterations: 4 },
  },
};

export default function () {
  sleep(0.4);
}
