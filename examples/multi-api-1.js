// Several services in one iteration: three GETs.
//
//   loadline target &
//   loadline run examples/multi-api-1.js
//   loadline run -e TARGET=http://host:port -e VUS=20 -e RAMP=5s -e HOLD=1m examples/multi-api-1.js
import http from 'k6/http';
import { check } from 'k6';
import { TARGET, rampAndHold } from './lib/plan.js';

export const options = {
  stages: rampAndHold('5m', '60m', 300),
};

export default function () {
  for (const path of ['/get', '/headers', '/ip']) {
    expectOk(http.get(`${TARGET}${path}`));
  }
}

function expectOk(response) {
  check(response, { 'status is 200': (r) => r.status === 200 });
}
