// The same service for a day, at a pace: each iteration sleeps for 25 ms.
//
//   loadline target --tls --routes docs/target/routes.toml &
//   loadline run --insecure-skip-tls-verify examples/soap-endurance.js
//   loadline run --insecure-skip-tls-verify -e TARGET_TLS=https://host:port -e HOLD=10m examples/soap-endurance.js
import { sleep } from 'k6';
import { addFiveAndSeven } from './lib/calculator.js';
import { rampAndHold } from './lib/plan.js';

export const options = {
  scenarios: {
    endurance: {
      executor: 'ramping-vus',
      exec: 'endurance',
      startVUs: 0,
      stages: rampAndHold('0s', '24h', 20),
    },
  },
};

export function endurance() {
  addFiveAndSeven();
  sleep(0.025);
}
