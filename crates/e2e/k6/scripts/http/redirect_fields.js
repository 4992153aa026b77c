// What goes along over redirects: the body of a GET, fields that describe it, and a host of one's own.
import http from 'k6/http';
export default function () {
  const led = (url, status, headers) => {
    const to = `${__ENV.BASE}/redirect-to?url=${url}&status_code=${status}`;
    return http.request('GET', to, 'body', { headers });
  };
  for (const status of [302, 307]) {
    const r = led('/anything', status, { 'Content-Type': 'text/plain', 'Content-MD5': 'x' });
    console.log(status, r.status, r.json('data'), r.json('headers.Content-Type.0'), r.json('headers.Content-Md5.0'));
  }
  for (const url of ['/anything', `${__ENV.BASE}/anything`]) {
    const r = led(url, 302, { Host: 'own.test' });
    console.log(r.status, r.json('headers.Host.0') === 'own.test');
  }
}
