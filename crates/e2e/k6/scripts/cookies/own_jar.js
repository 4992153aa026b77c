// A jar of one's own, beside that of the virtual user.
import http from 'k6/http';
export default function () {
  const jar = new http.CookieJar(); const u = `${__ENV.BASE}/cookies`;
  http.get(`${__ENV.BASE}/cookies/set?mine=1`, { jar });
  console.log(JSON.stringify(http.get(u).json()), JSON.stringify(http.get(u, { jar }).json()));
  console.log(JSON.stringify(jar.cookiesForURL(u)), JSON.stringify(http.cookieJar().cookiesForURL(u)));
}
