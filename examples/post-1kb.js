// A POST of 1 kB of random JSON in a loop.
//
//   loadline target &
//   loadline run examples/post-1kb.js
//   loadline run -e TARGET=http://host:port -e VUS=20 -e RAMP=5s -e HOLD=1m examples/post-1kb.js
import http from 'k6/http';
import { check } from 'k6';
import { TARGET, rampAndHold } from './lib/plan.js';
import { randomJson } from './lib/random.js';

const PARAMS = { headers: { 'Content-Type': 'application/json' } };

export const options = {
  stages: rampAndHold('5m', '30m', 5),
};

export default function () {
  const response = http.post(`${TARGET}/post`, randomJson(1024), PARAMS);
  check(response, {
    'status is 200': (r) => r.status === 200,
    'the body came back': (r) => r.json('json.payload').length > 1000 - 100,
  });
}
