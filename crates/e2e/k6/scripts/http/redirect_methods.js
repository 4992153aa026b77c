// Which redirects keep method and body.
import http from 'k6/http';
export default function () {
  for (const status of [301, 302, 303, 307, 308]) {
    const r = http.post(`${__ENV.BASE}/redirect-to?url=/anything&status_code=${status}`, 'body', { headers: { 'X-Keep': 'me' } });
    console.log(status, r.status, r.json('method'), r.json('data'), r.json('headers.X-Keep.0'));
  }
}
