// The SOAP calculator, as a gateway shows it: one request, and what its answer must hold.
import http from 'k6/http';
import { check } from 'k6';
import { TARGET_TLS } from './plan.js';

const ENVELOPE = `<?xml version="1.0" encoding="utf-8"?>
<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/">
  <soap:Body>
    <Add xmlns="http://tempuri.org/">
      <intA>5</intA>
      <intB>7</intB>
    </Add>
  </soap:Body>
</soap:Envelope>`;

const PARAMS = {
  headers: {
    'Content-Type': 'text/xml; charset=utf-8',
    SOAPAction: 'http://tempuri.org/Add',
    'Accept-Encoding': 'gzip',
  },
};

/** Adds five and seven. Header names of a response are canonical: each word begins with a capital. */
export function addFiveAndSeven() {
  const response = http.post(`${TARGET_TLS}/ws/calculator`, ENVELOPE, PARAMS);
  check(response, {
    'status is 200': (r) => r.status === 200,
    'Content-Type': (r) => r.headers['Content-Type'] === 'text/xml; charset=utf-8',
    'Content-Encoding': (r) => r.headers['Content-Encoding'] === 'gzip',
    'calculator result': (r) => r.body.includes('<AddResult>12</AddResult>'),
  });
}
