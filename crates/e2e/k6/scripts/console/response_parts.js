// Parts of a response.
import http from 'k6/http';
export default function () {
  const res = http.get(`${__ENV.BASE}/deep/json`);
  console.log(res.json('name'), res.json('list.0.tags'), res.json('nested.deep.value'), res.json('nested.deep.number'));
  console.log(res.status, res.body);
}
