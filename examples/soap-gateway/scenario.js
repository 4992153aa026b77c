// A scenario of the gateway: WHAT names its path, such as calculator/5 or httpbin/1.
import http from 'k6/http';
import { check } from 'k6';

const [service, scenario] = (__ENV.WHAT || 'calculator/0').split('/');
const TARGET = __ENV.TARGET || 'http://127.0.0.1:18201';

const ENVELOPE = `<?xml version="1.0" encoding="utf-8"?>
<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>
<Add xmlns="http://tempuri.org/"><intA>5</intA><intB>7</intB></Add>
</soap:Body></soap:Envelope>`;
const ORDER = JSON.stringify({ item: 'cordless drill', count: 3, note: 'leave it with a neighbour' });

export const options = {
  summaryTrendStats: ['min', 'max', 'avg', 'p(90)', 'p(95)', 'p(99)'],
  scenarios: {
    gateway: {
      executor: 'constant-vus',
      exec: service === 'calculator' ? 'calculator' : 'httpbin',
      vus: Number(__ENV.VUS || 20),
      duration: __ENV.HOLD || '900s',
    },
  },
};

export function calculator() {
  const headers = { 'Content-Type': 'text/xml; charset=utf-8', SOAPAction: 'http://tempuri.org/Add' };
  const response = http.post(`${TARGET}/calculator/${scenario}`, ENVELOPE, { headers });
  check(response, {
    'http response status code is 200': (r) => r.status === 200,
    'Content-Type': (r) => r.headers['Content-Type'] === 'text/xml; charset=utf-8',
    'calculator Result': (r) => r.body.includes('<AddResult>12</AddResult>'),
  });
}

export function httpbin() {
  const headers = { 'Content-Type': 'application/json' };
  const response = http.post(`${TARGET}/httpbin/${scenario}`, ORDER, { headers });
  check(response, {
    'http response status code is 200': (r) => r.status === 200,
    'the order came back': (r) => r.json('json.item') === 'cordless drill',
  });
}
