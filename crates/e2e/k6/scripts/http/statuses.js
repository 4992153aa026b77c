// Every status is an answer; the share of failures counts 400 and more.
import http from 'k6/http';
export default function () {
  for (const status of [200, 201, 202, 204, 304, 400, 401, 404, 418, 429, 500, 503]) {
    const r = http.get(`${__ENV.BASE}/status/${status}`, { tags: { name: 'status' } });
    console.log(r.status, r.status_text, r.error_code, `[${r.error}]`, typeof r.body);
  }
}
