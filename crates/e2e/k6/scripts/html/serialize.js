// Forms as arrays, objects and query strings.
import http from 'k6/http';
export default function () {
  const form = http.get(`${__ENV.BASE}/page/form`).html('#first');
  console.log(form.serialize());
  console.log(JSON.stringify(form.serializeArray().map((p) => [p.name, p.value])));
  const o = form.serializeObject(); console.log(Object.keys(o).sort().map((k) => `${k}=${o[k]}`).join('&'));
}
