// The field Cookie that a script writes ends with the first redirect; cookies of the request and of the jar go on.
import http from 'k6/http';
export default function () {
  const hop = `${__ENV.BASE}/cookies/hop`, headers = { Cookie: 'hand=1' };
  const seen = (r) => console.log(Object.keys(r.json('cookies')).sort().join());
  seen(http.get(`${__ENV.BASE}/cookies`, { headers }));
  seen(http.get(hop, { headers }));
  seen(http.get(hop, { headers, cookies: { own: '2' } }));
  seen(http.get(hop, { headers, jar: new http.CookieJar() }));
  console.log(http.get(`${__ENV.BASE}/redirect/1`, { headers }).json('headers.Cookie'));
}
