//@ stdout
//@ not: iterations iteration_duration data_sent data_received vus
// A ramp takes over the virtual users that another one has left; as many are made as are needed at a time.
import exec from 'k6/execution';
import { sleep } from 'k6';

const ramp = { executor: 'ramping-vus', startVUs: 0, gracefulRampDown: '0s', gracefulStop: '0s' };

export const options = {
  scenarios: {
    falls: {
      ...ramp,
      stages: [{ duration: '0s', target: 6 }, { duration: '1200ms', target: 6 }, { duration: '600ms', target: 0 }],
    },
    rises: {
      ...ramp,
      startTime: '1250ms',
      stages: [{ duration: '600ms', target: 6 }, { duration: '400ms', target: 6 }],
    },
  },
};

export default function () {
  sleep(0.04);
  if (exec.vu.idInTest > 6) {
    console.log('more than are needed', exec.vu.idInTest);
  }
}

export function handleSummary({ metrics }) {
  return { stdout: `vus_max ${metrics.vus_max.values.max}\n` };
}
