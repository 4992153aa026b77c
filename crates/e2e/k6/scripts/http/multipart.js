// Files in a form.
import http from 'k6/http';
const bytes = open('./data/small.bin', 'b');
export default function () {
  const r = http.post(`${__ENV.BASE}/anything`, { field: 'value', file: http.file(bytes, 'small.bin', 'application/x-small'), text: http.file('inline text', 'inline.txt') });
  console.log(r.status, r.json('form.field'), r.json('headers.Content-Type.0').split(';')[0], r.json('files.file.0'), r.json('files.text.0'));
  const f = http.file('x', 'name.txt', 'text/plain');
  console.log(f.data, f.filename, f.content_type, Object.keys(f).sort().join(), http.file('y').content_type);
}
