// A hundred scenarios in one file, each with its own path, tag and share of the load.
//
//   loadline target &
//   loadline run examples/hundred-scenarios.js
//   loadline run -e TARGET=http://host:port -e HOLD=1m examples/hundred-scenarios.js
import http from 'k6/http';
import { check, sleep } from 'k6';
import { TARGET } from './lib/plan.js';

const HUNDRED = Array.from({ length: 100 }, (_, index) => `service_${String(index).padStart(2, '0')}`);

export const options = {
  scenarios: Object.fromEntries(HUNDRED.map((name) => [name, scenario(name)])),
};

function scenario(name) {
  return {
    executor: 'constant-vus',
    exec: 'call',
    vus: 1,
    duration: __ENV.HOLD || '15m',
    env: { SERVICE: name },
    tags: { service_name: name },
  };
}

export function call() {
  const response = http.get(`${TARGET}/anything/${__ENV.SERVICE}`, { tags: { name: __ENV.SERVICE } });
  check(response, {
    'status is 200': (r) => r.status === 200,
    'its own path': (r) => r.json('url').endsWith(__ENV.SERVICE),
  });
  sleep(0.1);
}
