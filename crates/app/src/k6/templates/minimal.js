// A first load test: ten virtual users ask one page for half a minute.
//
// Run it:      loadline run script.js
// Elsewhere:   loadline run -e BASE_URL=https://test.example script.js
// Just once:   loadline run --once script.js
import http from 'k6/http';
import { check, sleep } from 'k6';

const BASE_URL = __ENV.BASE_URL || 'http://127.0.0.1:8080';

export const options = {
  vus: 10,
  duration: '30s',
  thresholds: {
    http_req_failed: ['rate<0.01'],
    http_req_duration: ['p(95)<500'],
  },
};

export default function () {
  const res = http.get(`${BASE_URL}/get`);
  check(res, { 'status is 200': (r) => r.status === 200 });
  sleep(1);
}
