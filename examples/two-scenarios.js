// Two scenarios side by side: a SOAP service and a JSON service under one plan, told apart by scenario.
//
//   loadline target --tls --routes docs/target/routes.toml &
//   loadline run --insecure-skip-tls-verify examples/two-scenarios.js
//   loadline run --insecure-skip-tls-verify -e VUS=5 -e RAMP=1s -e HOLD=1m examples/two-scenarios.js
import http from 'k6/http';
import { check } from 'k6';
import { addFiveAndSeven } from './lib/calculator.js';
import { TARGET_TLS, rampAndHold } from './lib/plan.js';

function scenario(exec) {
  return { executor: 'ramping-vus', exec, startVUs: 0, stages: rampAndHold('10s', '15m', 10) };
}

export const options = {
  scenarios: { soap: scenario('soap'), rest: scenario('rest') },
  thresholds: {
    'http_req_failed{scenario:soap}': ['rate<0.01'],
    'http_req_failed{scenario:rest}': ['rate<0.01'],
  },
};

export function soap() {
  addFiveAndSeven();
}

export function rest() {
  const response = http.get(`${TARGET_TLS}/get`);
  check(response, { 'status is 200': (r) => r.status === 200 });
}
