// Redirects of every kind.
import http from 'k6/http';
export default function () {
  const t = { tags: { name: 'redirect' } };
  for (const path of ['redirect/2', 'relative-redirect/1', 'absolute-redirect/1']) { const r = http.get(`${__ENV.BASE}/${path}`, t); console.log(path, r.status, r.url, r.json('method')); }
  console.log(http.get(`${__ENV.BASE}/redirect/3`, { redirects: 0, ...t }).status, http.post(`${__ENV.BASE}/redirect-to?url=%2Fanything&status_code=307`, 'kept', { headers: { 'Content-Type': 'text/plain' }, ...t }).json('data'));
}
