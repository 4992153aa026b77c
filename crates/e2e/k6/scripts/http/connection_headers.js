// Fields of the connection and of the framing are not shown.
import http from 'k6/http';
export default function () {
  for (const method of ['GET', 'HEAD']) { const r = http.request(method, `${__ENV.BASE}/headers/connection`); const names = Object.keys(r.headers).filter((name) => name !== 'Date').sort(); console.log(method, r.status, names.map((name) => `${name}: ${r.headers[name]}`).join(', ')); }
  console.log('Connection' in http.get(`${__ENV.BASE}/headers/connection`, { headers: { Connection: 'close' } }).headers);
  const r = http.get(`${__ENV.BASE}/stream-bytes/10`); console.log(r.status, 'Transfer-Encoding' in r.headers, 'Content-Length' in r.headers);
}
