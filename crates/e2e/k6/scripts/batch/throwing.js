// One that fails throws where that is asked for.
import http from 'k6/http';
export default function () {
  try { http.batch([`${__ENV.BASE}/get`, ['GET', 'http://127.0.0.1:1/', null, { throw: true }]]); } catch (e) { console.log(e.message); }
}
