// Requests of a batch carry group and tags.
import http from 'k6/http';
import { group } from 'k6';
export default function () {
  group('batch', () => http.batch([['GET', `${__ENV.BASE}/get`, null, { tags: { name: 'first', n: 1 } }], ['GET', `${__ENV.BASE}/get`, null, { responseType: 'none', tags: { name: 'second' } }]]));
}
