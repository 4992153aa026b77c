// Bytes, streams, delays and pages.
import http from 'k6/http';
export default function () {
  console.log(http.get(`${__ENV.BASE}/bytes/1000?seed=1`, { responseType: 'binary' }).body.byteLength, http.get(`${__ENV.BASE}/stream/4`).body.trim().split('\n').length, http.get(`${__ENV.BASE}/stream-bytes/777?chunk_size=50`, { responseType: 'binary' }).body.byteLength, http.get(`${__ENV.BASE}/range/26`).body.length);
  const d = http.get(`${__ENV.BASE}/delay/0.2`); console.log(d.status, d.timings.waiting >= 190, http.get(`${__ENV.BASE}/delay/3`, { timeout: '200ms' }).error_code);
  console.log(http.get(`${__ENV.BASE}/html`).html().find('h1').size(), http.get(`${__ENV.BASE}/base64/aGVsbG8=`).body, /^[0-9a-f-]{36}$/.test(http.get(`${__ENV.BASE}/uuid`).json('uuid')));
}
