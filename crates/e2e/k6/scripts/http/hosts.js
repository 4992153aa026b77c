// Names of one's own.
import http from 'k6/http';
export const options = { hosts: { 'shop.test': '127.0.0.1', '*.wild.test': '127.0.0.1', 'port.test:80': `127.0.0.1:${__ENV.PORT}` } };
export default function () {
  const p = __ENV.PORT;
  const r = http.get(`http://shop.test:${p}/headers`); console.log(r.status, r.json('headers.Host.0'), r.remote_ip);
  console.log(http.get(`http://a.wild.test:${p}/ok`).body, http.get('http://port.test/ok').body);
}
