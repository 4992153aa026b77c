// The jar of the virtual user by hand.
import http from 'k6/http';
export default function () {
  const jar = http.cookieJar(); const u = `${__ENV.BASE}/headers`;
  jar.set(u, 'plain', 'v'); jar.set(u, 'deep', 'd', { path: '/headers', max_age: 60 }); jar.set(u, 'elsewhere', 'e', { path: '/other' });
  console.log(JSON.stringify(Object.entries(jar.cookiesForURL(u)).sort()));
  console.log(http.get(u).json('headers.Cookie.0').split('; ').sort().join(';'));
  jar.delete(u, 'plain'); console.log(Object.keys(jar.cookiesForURL(u)).join());
  jar.clear(u); console.log(JSON.stringify(jar.cookiesForURL(u)), http.get(u).json('headers.Cookie'));
  jar.set(u, 'gone', 'x', { expires: 'Mon, 01 Jan 2001 00:00:00 GMT' }); console.log(JSON.stringify(jar.cookiesForURL(u)));
  try { jar.set('no url', 'a', 'b'); console.log('set'); } catch (e) { console.log(e.message); }
}
