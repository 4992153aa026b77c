// Two kinds of users at a time: readers whose number rises and falls, and orders that arrive at a
// fixed rate whatever the service does.
//
// Run it:      loadline run script.js
// Elsewhere:   loadline run -e BASE_URL=https://test.example script.js
// Other load:  loadline run --scenario orders.rate=50 script.js
import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Trend } from 'k6/metrics';

const BASE_URL = __ENV.BASE_URL || 'http://127.0.0.1:8080';
const orderTime = new Trend('order_time', true);

export const options = {
  scenarios: {
    readers: {
      executor: 'ramping-vus',
      exec: 'read',
      startVUs: 0,
      stages: [
        { duration: '10s', target: 20 },
        { duration: '30s', target: 20 },
        { duration: '10s', target: 0 },
      ],
    },
    orders: {
      executor: 'constant-arrival-rate',
      exec: 'order',
      rate: 10,
      timeUnit: '1s',
      duration: '50s',
      preAllocatedVUs: 10,
      maxVUs: 50,
    },
  },
  thresholds: {
    checks: ['rate>0.99'],
    'http_req_duration{scenario:readers}': ['p(95)<300'],
    order_time: ['p(99)<800'],
    dropped_iterations: ['count<1'],
  },
};

// Runs once, before everything; what it returns is given to every function below.
export function setup() {
  const res = http.get(`${BASE_URL}/get`);
  if (res.status !== 200) {
    throw new Error(`${BASE_URL} answers with status ${res.status}`);
  }
  return { started: new Date().toISOString() };
}

export function read(data) {
  group('read', () => {
    const res = http.get(`${BASE_URL}/get?since=${data.started}`, { tags: { name: 'read' } });
    check(res, { 'is read': (r) => r.status === 200 });
  });
  sleep(1);
}

export function order() {
  const body = JSON.stringify({ item: Math.floor(Math.random() * 1000), count: 1 });
  const res = http.post(`${BASE_URL}/post`, body, {
    headers: { 'Content-Type': 'application/json' },
    tags: { name: 'order' },
  });
  orderTime.add(res.timings.duration);
  check(res, {
    'is accepted': (r) => r.status === 200,
    'has a body': (r) => r.body.length > 0,
  });
}
