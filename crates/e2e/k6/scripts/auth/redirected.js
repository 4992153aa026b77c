// Credentials of the URL and redirects.
import http from 'k6/http';
export default function () {
  const host = __ENV.BASE.replace('http://', '');
  const r = http.get(`http://ann:secret@${host}/redirect-to?url=/headers`);
  console.log(r.status, r.url, JSON.stringify(r.json('headers.Authorization')));
}
