// SOAP over HTTPS at full speed: answers coded with gzip, checks on them, a named function and no default.
//
//   loadline target --tls --routes docs/target/routes.toml &
//   loadline run --insecure-skip-tls-verify examples/soap-calculator.js
//   loadline run --insecure-skip-tls-verify -e TARGET_TLS=https://host:port -e HOLD=1m examples/soap-calculator.js
import { addFiveAndSeven } from './lib/calculator.js';
import { rampAndHold } from './lib/plan.js';

export const options = {
  discardResponseBodies: false,
  summaryTrendStats: ['min', 'max', 'avg', 'p(90)', 'p(95)', 'p(99)'],
  scenarios: {
    calculator: {
      executor: 'ramping-vus',
      exec: 'calculator',
      startVUs: 0,
      stages: rampAndHold('0s', '900s', 20),
    },
  },
};

export function calculator() {
  addFiveAndSeven();
}
