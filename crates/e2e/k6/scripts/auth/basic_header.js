// Credentials in a header.
import http from 'k6/http';
import encoding from 'k6/encoding';
export default function () {
  const r = http.get(`${__ENV.BASE}/basic-auth/ann/secret`, { headers: { Authorization: `Basic ${encoding.b64encode('ann:secret')}` }, auth: 'basic' });
  console.log(r.status, r.json('user'));
  console.log(http.get(`${__ENV.BASE}/bearer`, { headers: { Authorization: 'Bearer t' } }).json('token'), http.get(`${__ENV.BASE}/bearer`).status);
}
