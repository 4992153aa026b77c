//@ args: --system-tags url,status,scenario
// Without the tag of the name: a name from the script stays a tag, that of a template does not replace the URL.
import http from 'k6/http';
export default function () {
  http.get(`${__ENV.BASE}/get`, { tags: { name: 'own' } });
  http.get(`${__ENV.BASE}/get`, { tags: { name: 'own', more: 'x' } });
  http.get(http.url`${__ENV.BASE}/get?${1}`);
  http.get(http.url`${__ENV.BASE}/get?${2}`, { tags: { more: 'x' } });
}
