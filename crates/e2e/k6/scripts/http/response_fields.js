// The fields of a response.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/get?a=b`);
  console.log(Object.keys(r).sort().join());
  console.log(r.status, r.status_text, r.proto, r.url, r.remote_ip, r.remote_port === Number(__ENV.PORT), `[${r.error}]`, r.error_code, `[${r.tls_version}]`, `[${r.tls_cipher_suite}]`);
  console.log(Object.keys(r.timings).sort().join(), Object.values(r.timings).every((t) => t >= 0 && t < 5000), r.timings.duration > 0);
  console.log(Object.keys(r.request).sort().join(), r.request.method, r.request.url, JSON.stringify(r.request.cookies), JSON.stringify(r.cookies), JSON.stringify(r.ocsp.status));
  console.log(['json', 'html', 'submitForm', 'clickLink'].map((m) => typeof r[m]).join());
}
