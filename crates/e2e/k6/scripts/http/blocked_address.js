//@ log: sorted
// A pattern of names forbids no address, not even one that is written like it.
import http from 'k6/http';
export const options = { blockHostnames: ['127.0.0.1', '*.0.0.1', 'localhost'] };
export default function () {
  console.log('address', http.get(`${__ENV.BASE}/get`).status);
  const name = http.get(`http://localhost:${__ENV.PORT}/get`);
  console.log('name', name.status, name.error_code);
}
