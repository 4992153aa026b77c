// A scheme that there is not.
import http from 'k6/http';
export default function () {
  const host = __ENV.BASE.replace('http://', '');
  const r = http.get(`http://ann:secret@${host}/headers`, { auth: 'magic' });
  console.log(r.status, r.body === null ? null : r.json('headers.Authorization.0'));
}
