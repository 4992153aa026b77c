// Credentials in the URL.
import http from 'k6/http';
export default function () {
  const host = __ENV.BASE.replace('http://', '');
  const r = http.get(`http://ann:secret@${host}/basic-auth/ann/secret`);
  console.log(r.status, r.url, r.request.url, JSON.stringify(r.json('user')));
  console.log(http.get(`http://ann:wrong@${host}/basic-auth/ann/secret`).status, http.get(`${__ENV.BASE}/basic-auth/ann/secret`).status);
}
