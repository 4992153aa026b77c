//@ args: --insecure-skip-tls-verify
// A coded SOAP answer over TLS, its header names as Go writes them.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const r = http.post(`${__ENV.BASE_TLS}/gzip/soap`, '<e><a>5</a></e>', { headers: { 'Content-Type': 'text/xml' } });
  check(r, { 'status is 200': (x) => x.status === 200, coded: (x) => x.headers['Content-Encoding'] === 'gzip', region: (x) => x.headers['X-Soap-Region'] === 'soap1', body: (x) => x.body.includes('<r>5</r>') });
  console.log(r.body, r.headers['Content-Type']);
}
