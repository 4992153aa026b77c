// A token that setup() signs, every iteration sends, and teardown() gives back.
import { check } from 'k6';
import crypto from 'k6/crypto';
import encoding from 'k6/encoding';
import http from 'k6/http';

export const options = { iterations: 2 };

function sign(claims) {
  const parts = [{ alg: 'HS256', typ: 'JWT' }, claims];
  const text = parts.map((part) => encoding.b64encode(JSON.stringify(part), 'rawurl')).join('.');
  return `${text}.${crypto.hmac('sha256', 'key', text, 'base64rawurl')}`;
}

export function setup() {
  return { token: sign({ sub: '1', name: 'Zoë', iat: 1 }), list: [1, { a: null }] };
}

export default function (data) {
  const headers = { Authorization: `Bearer ${data.token}` };
  const answer = http.get(`${__ENV.BASE}/headers`, { headers });
  check(answer, { sent: (r) => r.body.includes(data.token) });
  const claims = encoding.b64decode(data.token.split('.')[1], 'rawurl', 's');
  console.log(claims, JSON.stringify(data.list));
  data.token = 'changed';
}

export function teardown(data) {
  console.log(data.token);
}
