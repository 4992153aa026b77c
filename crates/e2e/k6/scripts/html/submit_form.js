// Forms are sent with their fields, and those given.
import http from 'k6/http';
export default function () {
  const page = http.get(`${__ENV.BASE}/page/form`);
  const tell = (r) => { const from = r.json('method') === 'POST' ? r.json('form') : r.json('args'); console.log(r.status, r.json('method'), r.json('url'), Object.keys(from).sort().map((k) => `${k}=${from[k]}`).join('&'), r.json('headers.Content-Type')); };
  tell(page.submitForm({ formSelector: '#first' }));
  tell(page.submitForm({ formSelector: '#first', fields: { user: 'bob', extra: 'x' }, params: { headers: { 'X-A': '1' } } }));
  tell(page.submitForm({ formSelector: '#second', fields: { q: 'other' } }));
}
