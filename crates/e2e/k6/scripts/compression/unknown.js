// A coding that there is not.
import http from 'k6/http';
export default function () {
  const r = http.post(`${__ENV.BASE}/anything`, 'x', { compression: 'lzw' });
  console.log(r.status, r.error);
}
