// Credentials with escapes.
import http from 'k6/http';
export default function () {
  const host = __ENV.BASE.replace('http://', '');
  const r = http.get(`http://a%40b:secret@${host}/headers`);
  console.log(r.json('headers.Authorization.0'));
}
