// Values that want quoting.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/headers`, { cookies: { space: 'a b', comma: 'a,b', eq: 'a=b', empty: '' } });
  console.log((r.json('headers.Cookie.0') || '').split('; ').sort().join('; '));
}
