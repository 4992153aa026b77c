// Every output.
import crypto from 'k6/crypto';
export default function () {
  for (const o of ['hex', 'base64', 'base64url', 'base64rawurl']) console.log(o, crypto.sha256('hi?', o), crypto.hmac('sha1', 'k', 'v', o));
  const b = crypto.sha1('x', 'binary'); console.log(b instanceof ArrayBuffer, b.byteLength, new Uint8Array(b)[0]);
}
