// Chunked answers, and large ones.
import http from 'k6/http';
export default function () {
  console.log(http.get(`${__ENV.BASE}/stream/3`).body.trim().split('\n').length);
  console.log(http.get(`${__ENV.BASE}/bytes/300000?seed=2`, { responseType: 'binary' }).body.byteLength, http.get(`${__ENV.BASE}/stream-bytes/5000?chunk_size=7`, { responseType: 'binary' }).body.byteLength);
}
