// Cookies over several requests.
import http from 'k6/http';
export const options = { iterations: 2 };
export default function () {
  const r = http.get(`${__ENV.BASE}/cookies/set?k1=v1&k2=v2`, { redirects: 0 });
  console.log(r.cookies.k1[0].value, r.cookies.k2[0].value, Object.keys(http.cookieJar().cookiesForURL(__ENV.BASE)).sort().join());
  const got = http.get(`${__ENV.BASE}/cookies`, { cookies: { mine: 'm' } }).json('cookies'); console.log(Object.keys(got).sort().map((k) => `${k}=${got[k]}`).join());
  http.get(`${__ENV.BASE}/cookies/delete?k1=`, { redirects: 0 }); console.log(Object.keys(http.cookieJar().cookiesForURL(__ENV.BASE)).sort().join());
}
