// Bodies that are none.
import http from 'k6/http';
export const options = { iterations: 2 };
export default function () {
  const body = [42, true][__ITER];
  const r = http.post(`${__ENV.BASE}/anything`, body); console.log(r.status, r.error_code, r.body === null);
}
