// Compression without anything to compress, and with a coding of the script's own.
import http from 'k6/http';
export default function () {
  console.log(http.post(`${__ENV.BASE}/anything`, null, { compression: 'gzip' }).status);
  const r = http.post(`${__ENV.BASE}/anything`, 'text', { compression: 'gzip', headers: { 'Content-Encoding': 'deflate' } });
  console.log(r.status, JSON.stringify(r.json('headers.Content-Encoding')));
}
