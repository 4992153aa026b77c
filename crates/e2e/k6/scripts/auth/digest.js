// Digest: a challenge, then the answer to it; both requests count.
import http from 'k6/http';
export default function () {
  const host = __ENV.BASE.replace('http://', '');
  const r = http.get(`http://ann:secret@${host}/digest/echo`, { auth: 'digest' });
  console.log(r.status, r.request.method);
}
