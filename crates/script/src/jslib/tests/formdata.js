import http from 'k6/http';
import { FormData } from 'https://jslib.k6.io/formdata/0.0.2/index.js';

export default function () {
  const form = new FormData();
  form.append('plain', 'v');
  form.append('file', http.file('hello', 'a.txt', 'text/plain'));
  form.append('bytes', http.file(new Uint8Array([104, 105]).buffer, 'b.bin'));
  const text = String.fromCharCode(...new Uint8Array(form.body()));
  for (const line of text.split(form.boundary).join('BOUNDARY').split('\r\n')) console.log(`|${line}|`);
}
