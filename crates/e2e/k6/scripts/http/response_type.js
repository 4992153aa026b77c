// Text, binary and no body.
import http from 'k6/http';
export default function () {
  const u = `${__ENV.BASE}/bytes/8?seed=1`;
  const text = http.get(u); const binary = http.get(u, { responseType: 'binary' }); const none = http.get(u, { responseType: 'none' });
  console.log(typeof text.body, text.body.length, escape(text.body));
  console.log(binary.body instanceof ArrayBuffer, binary.body.byteLength, new Uint8Array(binary.body).join());
  console.log(none.body, none.status);
  try { http.get(u, { responseType: 'wrong' }); } catch (e) { console.log(e.message); }
}
