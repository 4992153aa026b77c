//@ args: --insecure-skip-tls-verify
// TLS: what the response tells, and HTTP/2 by negotiation.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE_TLS}/get`);
  console.log(r.status, r.proto, r.tls_version, r.tls_cipher_suite.startsWith('TLS_'), r.timings.tls_handshaking > 0);
  console.log(http.TLS_1_2, http.TLS_1_3, http.OCSP_STATUS_GOOD, http.get(`${__ENV.BASE_TLS}/get`).timings.tls_handshaking);
}
