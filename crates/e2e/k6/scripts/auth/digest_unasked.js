// Digest where nobody asks for it.
import http from 'k6/http';
export default function () {
  const host = __ENV.BASE.replace('http://', '');
  const r = http.get(`http://ann:secret@${host}/headers`, { auth: 'digest' });
  console.log(r.status, r.json('headers.Authorization'));
}
