// Form values are escaped, keys sorted.
import http from 'k6/http';
export default function () {
  const r = http.post(`${__ENV.BASE}/anything`, { z: 'last', a: 'a&b=c', 'k y': 'é+/', s: ' ', p: '100%' });
  console.log(r.request.body);
  console.log(r.json('form.z'), r.json('form.a'), r.json('form.p'));
}
