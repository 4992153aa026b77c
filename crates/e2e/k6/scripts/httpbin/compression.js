// Coded answers and bodies.
import http from 'k6/http';
export default function () {
  console.log(http.get(`${__ENV.BASE}/gzip`).json('gzipped'), http.get(`${__ENV.BASE}/deflate`).json('deflated'), http.get(`${__ENV.BASE}/gzip`).headers['Content-Encoding']);
  console.log(JSON.stringify(http.post(`${__ENV.BASE}/post`, 'x'.repeat(100), { compression: 'gzip' }).json('headers.Content-Encoding')));
}
