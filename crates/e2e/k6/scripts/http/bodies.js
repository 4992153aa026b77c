// Bodies by type: text, form, buffer, view, nothing.
import http from 'k6/http';
export default function () {
  const u = `${__ENV.BASE}/anything`;
  const tell = (name, body) => { const r = http.post(u, body); console.log(name, r.status, JSON.stringify(r.json('data')), JSON.stringify(r.json('form.b')), r.json('headers.Content-Type'), r.json('headers.Content-Length'), r.request.body); };
  tell('text', 'plain text');
  tell('form', { a: 1, b: 'two words', c: true });
  tell('list', { x: [1, 2, 'three'] });
  tell('buffer', new Uint8Array([104, 105]).buffer);
  tell('view', new Uint8Array([72, 73]));
  tell('nothing', undefined);
  tell('null', null);
  tell('empty', '');
  tell('json', JSON.stringify({ a: 1 }));
  tell('unicode', 'é€😀');
  tell('empty object', {});
}
