// Several services in one iteration: two POSTs of 1 kB and one of 11 kB.
//
//   loadline target &
//   loadline run examples/multi-api-4.js
//   loadline run -e TARGET=http://host:port -e VUS=20 -e RAMP=5s -e HOLD=1m examples/multi-api-4.js
import http from 'k6/http';
import { check } from 'k6';
import { TARGET, rampAndHold } from './lib/plan.js';
import { randomJson } from './lib/random.js';

const JSON_PARAMS = { headers: { 'Content-Type': 'application/json' } };

export const options = {
  stages: rampAndHold('5m', '30m', 400),
};

export default function () {
  expectOk(http.post(`${TARGET}/post`, randomJson(1024), JSON_PARAMS));
  expectOk(http.post(`${TARGET}/anything`, randomJson(1024), JSON_PARAMS));
  expectOk(http.post(`${TARGET}/post`, randomJson(11264), JSON_PARAMS));
}

function expectOk(response) {
  check(response, { 'status is 200': (r) => r.status === 200 });
}
