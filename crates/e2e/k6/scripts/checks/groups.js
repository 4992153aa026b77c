// Groups nest, return what the function returns, and may be entered again.
import { check, group } from 'k6';
import http from 'k6/http';
export const options = { iterations: 2 };
export default function () {
  const result = group('outer', () => {
    check(1, { 'outer check': true });
    return group('inner', () => { http.get(`${__ENV.BASE}/get`); check(1, { 'inner check': true }); return 'value'; });
  });
  group('inner', () => check(1, { 'inner check': __ITER === 0 }));
  console.log(result);
}
