// One connection serves request after request, and iteration after iteration.
import http from 'k6/http';
export const options = { iterations: 2 };
export default function () {
  const first = http.get(`${__ENV.BASE}/ok`); const second = http.get(`${__ENV.BASE}/ok`);
  console.log(first.timings.connecting > 0, second.timings.connecting, second.body);
}
