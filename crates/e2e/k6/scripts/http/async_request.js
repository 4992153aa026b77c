// asyncRequest gives promises.
import http from 'k6/http';
export default async function () {
  const r = await http.asyncRequest('GET', `${__ENV.BASE}/get?x=1`, null, { tags: { k: 'v' } });
  console.log(r.status, r.json('args.x.0'));
  const all = await Promise.all([1, 2, 3].map((n) => http.asyncRequest('POST', `${__ENV.BASE}/anything`, `${n}`)));
  console.log(all.map((one) => one.json('data')).join());
  const fast = http.asyncRequest('GET', `${__ENV.BASE}/get`).then((one) => one.status);
  console.log(fast instanceof Promise, await fast, (await http.asyncRequest('GET', 'http://127.0.0.1:1/')).error_code);
}
