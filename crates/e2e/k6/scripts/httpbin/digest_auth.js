//@ needs: go-httpbin
// Digest authorization with its challenge.
import http from 'k6/http';
export default function () {
  const host = __ENV.BASE.replace('http://', '');
  const r = http.get(`http://user:pass@${host}/digest-auth/auth/user/pass`, { auth: 'digest' }); console.log(r.status, r.json('user'), r.request.method);
  console.log(http.get(`http://user:wrong@${host}/digest-auth/auth/user/pass`, { auth: 'digest' }).status, http.get(`${__ENV.BASE}/digest-auth/auth/user/pass`).status);
}
