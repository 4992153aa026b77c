// Cookies are kept within an iteration and forgotten after it.
import http from 'k6/http';
export const options = { iterations: 2 };
export default function () {
  const before = http.get(`${__ENV.BASE}/cookies`).json();
  http.get(`${__ENV.BASE}/cookies/set?a=1&b=two`);
  const after = http.get(`${__ENV.BASE}/cookies`).json();
  console.log(JSON.stringify(before), after.cookies ? `${after.cookies.a} ${after.cookies.b}` : `${after.a} ${after.b}`);
}
