// Values of forms that are no text: dates and bytes; a file that is no form.
import http from 'k6/http';
export default function () {
  const u = `${__ENV.BASE}/anything`;
  const tell = (name, body) => console.log(name, JSON.stringify(http.post(u, body).json('form')));
  tell('dates', { day: new Date(0), more: [new Date(1234567890120)], exact: new Date(86400000) });
  tell('bytes', { view: new Uint8Array([1, 2, 255]), none: new Uint8Array(0) });
  const response = http.post(u, http.file('text', 'a.txt'));
  console.log(response === undefined ? 'no response' : response.error);
}
