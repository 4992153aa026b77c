// A hundred virtual users, each with ten rounds: a GET each round, then the end.
//
//   loadline target &
//   loadline run examples/users-and-loops.js
//   loadline run -e TARGET=http://host:port -e VUS=10 -e ROUNDS=100 examples/users-and-loops.js
import http from 'k6/http';
import { check } from 'k6';
import { TARGET } from './lib/plan.js';

export const options = {
  scenarios: {
    rounds: {
      executor: 'per-vu-iterations',
      vus: Number(__ENV.VUS || 100),
      iterations: Number(__ENV.ROUNDS || 10),
    },
  },
};

export default function () {
  const response = http.get(`${TARGET}/get`);
  check(response, { 'status is 200': (r) => r.status === 200 });
}
