// What a request carries when nothing is asked for.
import http from 'k6/http';
export default function () {
  for (const r of [http.get(`${__ENV.BASE}/headers`), http.post(`${__ENV.BASE}/anything`, 'x')]) {
    console.log(Object.entries(r.json('headers')).map(([k, v]) => `${k}=${v}`).sort().join(' ; '));
  }
}
