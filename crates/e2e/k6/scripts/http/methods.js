// Every method, with and without a body.
import http from 'k6/http';
import { get, post, request } from 'k6/http';
export default function () {
  const b = __ENV.BASE;
  const all = [http.get(`${b}/anything`), http.head(`${b}/get`), http.post(`${b}/anything`, 'p'), http.put(`${b}/anything`, 'u'), http.patch(`${b}/anything`, 'a'), http.del(`${b}/anything`), http.del(`${b}/anything`, 'body'), http.options(`${b}/anything`), http.request('GET', `${b}/anything`), http.request('REPORT', `${b}/anything`, 'r')];
  for (const r of all) console.log(r.status, r.request.method, r.request.body, r.body ? `${r.json('method')} ${r.json('data')}` : typeof r.body);
  console.log(get(`${b}/get`).status, post(`${b}/post`).status, request('get', `${b}/anything`).status);
}
