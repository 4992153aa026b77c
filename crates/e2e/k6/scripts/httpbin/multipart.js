// Files and fields.
import http from 'k6/http';
export default function () { const r = http.post(`${__ENV.BASE}/post`, { file: http.file('content of it', 'it.txt', 'text/plain'), field: 'value', list: 'l' }); console.log(r.status, r.json('form.field'), r.json('files.file')); }
