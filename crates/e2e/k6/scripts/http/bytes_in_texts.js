// Texts made of bytes that are no UTF-8 keep them until they are cut or joined.
import http from 'k6/http';
import crypto from 'k6/crypto';
import encoding from 'k6/encoding';

const fromFile = open('./data/small.bin');
const fromBase64 = encoding.b64decode('/wD+gA==', 'std', 's');

export default function () {
  const u = `${__ENV.BASE}/anything`;
  const tell = (name, body) => {
    const r = http.post(u, body);
    console.log(name, r.json('headers.Content-Length'), JSON.stringify(r.json('data')));
  };
  tell('file', fromFile);
  tell('base64', fromBase64);
  tell('joined', `${fromBase64}!`);
  tell('form', { a: fromBase64, b: [fromBase64, 'x'] });
  console.log(fromBase64.length, fromBase64.charCodeAt(0), fromBase64.charCodeAt(1), fromFile.length);
  console.log(crypto.md5(fromBase64, 'hex'), crypto.sha1(fromFile, 'hex'), encoding.b64encode(fromBase64));
  console.log(crypto.hmac('sha256', fromBase64, fromFile, 'hex'), encoding.b64encode(fromBase64.slice(0, 2)));
  const body = http.get(`${__ENV.BASE}/bytes/24?seed=3`).body;
  console.log(body.length, crypto.md5(body, 'hex'), encoding.b64encode(body));
  tell('passed on', body);
}
