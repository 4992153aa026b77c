//@ args: --discard-response-bodies
// Bodies are dropped unless a request asks for its own.
import http from 'k6/http';
export default function () {
  const u = `${__ENV.BASE}/get`;
  console.log(http.get(u).body, typeof http.get(u, { responseType: 'text' }).body, http.get(u, { responseType: 'binary' }).body.byteLength > 0);
}
