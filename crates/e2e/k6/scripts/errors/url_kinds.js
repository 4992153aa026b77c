// What else is given for a URL.
import http from 'k6/http';
export const options = { iterations: 3 };
export default function () {
  const u = [undefined, null, 42][__ITER];
  const r = http.get(u); console.log(r.status, r.error_code, r.error);
}
