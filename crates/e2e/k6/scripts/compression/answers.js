// Coded answers are decoded, whoever asked for them.
import http from 'k6/http';
export default function () {
  for (const kind of ['gzip', 'deflate', 'brotli']) {
    const r = http.get(`${__ENV.BASE}/${kind}`);
    console.log(kind, r.status, r.headers['Content-Encoding'], r.json(kind) === undefined ? r.json(kind === 'gzip' ? 'gzipped' : 'deflated') : r.json(kind), r.request.headers['Accept-Encoding']);
  }
}
