// Several at once.
import http from 'k6/http';
import { check } from 'k6';
export default function () { const rs = http.batch([`${__ENV.BASE}/get?n=1`, ['POST', `${__ENV.BASE}/post`, 'b', { headers: { 'Content-Type': 'text/plain' } }], { method: 'GET', url: `${__ENV.BASE}/status/404` }]); check(rs, { three: (a) => a.length === 3, first: (a) => a[0].json('args.n.0') === '1', second: (a) => a[1].json('data') === 'b', third: (a) => a[2].status === 404 }); }
