// Decoded bytes.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/coded/a`, { responseType: 'binary' });
  console.log(r.body.byteLength, String.fromCharCode(...new Uint8Array(r.body)));
}
