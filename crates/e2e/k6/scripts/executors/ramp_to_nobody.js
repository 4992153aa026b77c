//@ loud
//@ stdout: plan
//@ not: iterations iteration_duration data_sent data_received
// A ramp that ends without virtual users takes no longer than they do; tenths of seconds.
import { sleep } from 'k6';

export const options = {
  scenarios: {
    falls: {
      executor: 'ramping-vus',
      startVUs: 2,
      stages: [{ duration: '300ms', target: 0 }],
      gracefulRampDown: '0s',
    },
    late: {
      executor: 'constant-vus',
      vus: 1,
      duration: '1s',
      startTime: '60ms',
      gracefulStop: '0s',
    },
  },
};
export default function () {
  sleep(0.05);
}
