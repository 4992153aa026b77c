// One GET in a loop: the highest rate that virtual users without pauses reach.
//
//   loadline target &
//   loadline run examples/single-get.js
//   loadline run -e TARGET=http://host:port -e VUS=50 -e RAMP=5s -e HOLD=1m examples/single-get.js
import http from 'k6/http';
import { check } from 'k6';
import { TARGET, rampAndHold } from './lib/plan.js';

export const options = {
  stages: rampAndHold('1m', '60m', 300),
};

export default function () {
  const response = http.get(`${TARGET}/get`);
  check(response, { 'status is 200': (r) => r.status === 200 });
}
