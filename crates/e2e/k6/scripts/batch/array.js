// Requests of every form in an array; answers in its order.
import http from 'k6/http';
export default function () {
  const b = __ENV.BASE;
  const rs = http.batch([`${b}/get?n=0`, ['GET', `${b}/get?n=1`], ['POST', `${b}/anything`, 'two', { tags: { which: 'two' } }], { method: 'PUT', url: `${b}/anything`, body: { n: 3 }, params: { headers: { 'X-N': '3' } } }, { url: `${b}/get?n=4` }, { method: 'GET', url: `${b}/get?n=5` }]);
  console.log(Array.isArray(rs), rs.length, rs.map((r) => r.status).join());
  console.log(rs[0].json('args.n.0'), rs[1].json('args.n.0'), rs[2].json('data'), rs[3].json('form.n.0'), rs[3].json('headers.X-N.0'), rs[4].json('args.n.0'), rs[5].json('args.n.0'));
}
