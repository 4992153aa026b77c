// Only TLS 1.2.
import http from 'k6/http';
export const options = { insecureSkipTLSVerify: true, tlsVersion: http.TLS_1_2 };
export default function () { const r = http.get(`${__ENV.BASE_TLS}/get`); console.log(r.status, r.tls_version, r.proto); }
