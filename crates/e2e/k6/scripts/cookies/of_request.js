// Cookies of one request, and which of two wins.
import http from 'k6/http';
export default function () {
  const u = `${__ENV.BASE}/headers`;
  const sent = (params) => (http.get(u, params).json('headers.Cookie') || ['none']).join().split('; ').sort().join('; ');
  console.log(sent({ cookies: { one: '1', two: 2 } }));
  http.cookieJar().set(u, 'one', 'jar');
  console.log(sent({}), '|', sent({ cookies: { one: 'request' } }), '|', sent({ cookies: { one: { value: 'replaced', replace: true } } }), '|', sent({ headers: { Cookie: 'raw=1' } }));
}
