// What is chosen in lists of several, and by the script.
import http from 'k6/http';
export default function () {
  const page = http.get(`${__ENV.BASE}/page/lists`);
  const body = (options) => page.submitForm(options).request.body;
  console.log(body({}), body({ fields: { m: ['a', 'b c'] } }));
}
