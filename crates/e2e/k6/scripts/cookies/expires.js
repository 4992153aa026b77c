// Cookies that end, by date.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/cookies/expires`);
  console.log(r.cookies.future[0].expires, r.cookies.past[0].expires);
  console.log(JSON.stringify(http.cookieJar().cookiesForURL(`${__ENV.BASE}/`)));
}
