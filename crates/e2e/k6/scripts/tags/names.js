// What name and url are, by URL and by tag.
import http from 'k6/http';
export default function () {
  const b = __ENV.BASE;
  http.get(`${b}/get`);
  http.get(`${b}/get?id=1`, { tags: { name: 'grouped' } });
  http.get(http.url`${b}/anything/${1}/x?y=${2}`);
  http.get(http.url`${b}/get`, { tags: { extra: 'e' } });
  http.post(http.url`${b}/post?n=${1}`, 'x');
  http.request('GET', http.url`${b}/get?m=${1}`);
}
