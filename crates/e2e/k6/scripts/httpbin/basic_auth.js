// Basic authorization.
import http from 'k6/http';
export default function () {
  const host = __ENV.BASE.replace('http://', '');
  const r = http.get(`http://user:pass@${host}/basic-auth/user/pass`); console.log(r.status, r.json('user'));
  console.log(http.get(`http://user:no@${host}/basic-auth/user/pass`).status, http.get(`${__ENV.BASE}/hidden-basic-auth/user/pass`).status, http.get(`${__ENV.BASE}/bearer`, { headers: { Authorization: 'Bearer abc' } }).json('token'));
}
