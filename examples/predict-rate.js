// Queries to a prediction service at a fixed rate, whatever the service does: an open model.
//
//   loadline target &
//   loadline run examples/predict-rate.js
//   loadline run -e TARGET=http://host:port -e RATE=100 -e HOLD=10m examples/predict-rate.js
import http from 'k6/http';
import { check } from 'k6';
import { TARGET } from './lib/plan.js';

const QUERY = JSON.stringify({ query: 'cordless drill', topk: 10 });
const PARAMS = { headers: { 'Content-Type': 'application/json' } };

export const options = {
  scenarios: {
    queries: {
      executor: 'constant-arrival-rate',
      rate: Number(__ENV.RATE || 50),
      timeUnit: '1s',
      duration: __ENV.HOLD || '5m',
      preAllocatedVUs: Number(__ENV.VUS || 50),
    },
  },
};

export default function () {
  const response = http.post(`${TARGET}/predict`, QUERY, PARAMS);
  // A service that is broken may well answer 200 and nothing: what counts is what it found.
  check(response, {
    'status is 200': (r) => r.status === 200,
    'ten categories': (r) => r.json('categories.#') === 10,
  });
}
