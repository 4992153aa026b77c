// Bodies coded on request.
import http from 'k6/http';
export default function () {
  for (const compression of ['gzip', 'deflate', 'zstd', 'br', 'gzip, deflate']) {
    const r = http.post(`${__ENV.BASE}/anything`, 'a'.repeat(500), { compression });
    console.log(compression, r.status, JSON.stringify(r.json('headers.Content-Encoding')), Number(r.json('headers.Content-Length.0')) < 100, r.request.body.length);
  }
}
