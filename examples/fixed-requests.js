// So many requests over so many virtual users, then the end.
//
//   loadline target &
//   loadline run examples/fixed-requests.js
//   loadline run -e TARGET=http://host:port -e VUS=10 -e REQUESTS=1000 examples/fixed-requests.js
import http from 'k6/http';
import { check } from 'k6';
import { TARGET } from './lib/plan.js';

export const options = {
  vus: Number(__ENV.VUS || 125),
  iterations: Number(__ENV.REQUESTS || 100000),
};

export default function () {
  const response = http.get(`${TARGET}/ok`);
  check(response, { 'status is 200': (r) => r.status === 200 });
}
