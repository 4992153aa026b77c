// Addresses and names that are not to be called.
import http from 'k6/http';
export const options = { blacklistIPs: ['127.0.0.0/8'], blockHostnames: ['blocked.test', '*.evil.test'] };
export default function () {
  for (const u of [`${__ENV.BASE}/ok`, 'http://blocked.test/', 'http://very.evil.test/']) { const r = http.get(u); console.log(r.status, r.error_code, r.error); }
}
