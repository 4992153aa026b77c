// Every method on a server that tells what it got.
import http from 'k6/http';
export default function () {
  const b = __ENV.BASE; const text = { headers: { 'Content-Type': 'text/plain' } };
  for (const r of [http.get(`${b}/get?a=1&a=2&b=x%20y`), http.post(`${b}/post`, 'text', text), http.put(`${b}/put`, { f: 1 }), http.patch(`${b}/patch`, '{}', text), http.del(`${b}/delete`), http.request('PURGE', `${b}/anything/purge`)]) console.log(r.status, r.json('method'), r.json('url'), JSON.stringify(r.json('args.a')), r.json('data'), JSON.stringify(r.json('form.f')));
  console.log(http.head(`${b}/head`).status);
}
