//@ needs: go-httpbin
// Digest with another hash.
import http from 'k6/http';
export default function () { const host = __ENV.BASE.replace('http://', ''); const r = http.get(`http://user:pass@${host}/digest-auth/auth/user/pass/SHA-256`, { auth: 'digest' }); console.log(r.status, r.json('user')); }
