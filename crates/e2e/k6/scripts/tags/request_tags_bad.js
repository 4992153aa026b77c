// Request tags of odd kinds.
import http from 'k6/http';
export const options = { iterations: 2 };
export default function () {
  if (__ITER === 0) http.get(`${__ENV.BASE}/get`, { tags: { o: { a: 1 } } });
  http.get(`${__ENV.BASE}/get`, { tags: { n: 1.5, b: false, s: '' } });
}
