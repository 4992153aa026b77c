// Secure cookies go to this very machine without TLS too; deleting is setting anew without a path.
import http from 'k6/http';
const names = (o) => Object.keys(o).sort().join();
export default function () {
  for (const h of ['localhost', '127.0.0.1', '127.0.0.2', '[::1]', 'foo.localhost', 'other.test']) {
    const jar = new http.CookieJar(); jar.set(`http://${h}/`, 's', '1', { secure: true }); jar.set(`http://${h}/`, 'p', '1');
    console.log(h, names(jar.cookiesForURL(`http://${h}/`)), names(jar.cookiesForURL(`https://${h}/`)));
  }
  const jar = new http.CookieJar(); const u = 'http://a.test/x/y';
  jar.set(u, 'a', '1'); jar.set(u, 'b', '2', { path: '/' }); jar.set(u, 'c', '3', { domain: 'a.test' }); jar.set(u, 'd', '4', { path: '/x/y' });
  console.log(names(jar.cookiesForURL(u)));
  for (const name of ['b', 'c', 'd']) { jar.delete(u, name); console.log(names(jar.cookiesForURL(u))); }
  jar.clear(u); console.log(names(jar.cookiesForURL(u)));
  jar.clear('http://a.test/'); console.log(names(jar.cookiesForURL(u)));
}
