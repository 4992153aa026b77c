// A JSON service behind a gateway that holds requests against an OpenAPI document: what is sent comes back.
//
//   loadline target --tls &
//   loadline run --insecure-skip-tls-verify examples/openapi-echo.js
//   loadline run --insecure-skip-tls-verify -e TARGET_TLS=https://host:port -e HOLD=1m examples/openapi-echo.js
import http from 'k6/http';
import { check } from 'k6';
import { TARGET_TLS, rampAndHold } from './lib/plan.js';

const ORDER = {
  customer: { name: 'Ann Example', street: '1 Long Street', city: 'Harbour', country: 'NL' },
  lines: [
    { article: 'rope', metres: 120, price: 1.25 },
    { article: 'lantern', pieces: 4, price: 19.9 },
    { article: 'paint', litres: 10, price: 7.5 },
  ],
  note: 'to be delivered at the quay between seven and nine in the morning',
};
const PARAMS = { headers: { 'Content-Type': 'application/json', Accept: 'application/json' } };

export const options = {
  scenarios: {
    echo: {
      executor: 'ramping-vus',
      exec: 'echo',
      startVUs: 0,
      stages: rampAndHold('0s', '900s', 200),
    },
  },
};

export function echo() {
  const response = http.post(`${TARGET_TLS}/anything`, JSON.stringify(ORDER), PARAMS);
  check(response, {
    'status is 200': (r) => r.status === 200,
    'Content-Type': (r) => r.headers['Content-Type'].startsWith('application/json'),
    'the order came back': (r) => r.json('json.customer.name') === ORDER.customer.name && r.json('json.lines.#') === 3,
  });
}
