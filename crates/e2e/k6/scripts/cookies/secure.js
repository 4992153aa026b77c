//@ args: --insecure-skip-tls-verify
// Secure cookies go over TLS alone.
import http from 'k6/http';
export default function () {
  const jar = http.cookieJar();
  jar.set(`${__ENV.BASE_TLS}/`, 'safe', '1', { secure: true }); jar.set(`${__ENV.BASE_TLS}/`, 'open', '2');
  const sent = (b) => ((http.get(`${b}/headers`).json('headers.Cookie') || ['none'])[0]).split('; ').sort().join();
  console.log(sent(__ENV.BASE_TLS), sent(__ENV.BASE));
}
