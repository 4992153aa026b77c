// Bodies that are not there.
import http from 'k6/http';
export default function () {
  for (const r of [http.get(`${__ENV.BASE}/empty`), http.head(`${__ENV.BASE}/get`), http.get(`${__ENV.BASE}/not-modified`), http.get(`${__ENV.BASE}/bytes/0`)]) console.log(r.status, r.body === null, JSON.stringify(r.body));
}
