// Where a redirect leads, digest authentication no longer knows the credentials of the URL.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE.replace('://', '://us:pw@')}/location/digest`, { auth: 'digest' });
  console.log(r.status, r.url.endsWith('/digest/echo'), String(/username="[^"]*"/.exec(r.body)));
}
