// What no script reads is not unpacked, and so cannot be damaged.
import http from 'k6/http';
export default function () {
  for (const responseType of ['none', 'text']) {
    const r = http.get(`${__ENV.BASE}/response-headers?Content-Encoding=gzip`, { responseType });
    console.log(responseType, r.status, r.error_code);
  }
}
