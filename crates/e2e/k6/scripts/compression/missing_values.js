// A coding that is no text is named by its text.
import http from 'k6/http';
export default function () {
  for (const compression of [null, undefined, '', ' gzip ']) { const r = http.post(`${__ENV.BASE}/anything`, 'hello', { compression }); console.log(compression, r.status, r.error); }
}
