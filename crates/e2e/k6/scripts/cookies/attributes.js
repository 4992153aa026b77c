// Attributes of cookies that a server sets.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/cookies/attributes`);
  for (const name of Object.keys(r.cookies).sort()) {
    const c = r.cookies[name][0];
    console.log(name, c.name, c.value, `[${c.domain}]`, `[${c.path}]`, c.http_only, c.secure, c.max_age, c.expires > 0);
  }
  console.log(Object.keys(http.cookieJar().cookiesForURL(`${__ENV.BASE}/cookies/x`)).sort().join());
  console.log(Object.keys(http.cookieJar().cookiesForURL(`${__ENV.BASE}/other`)).sort().join());
}
