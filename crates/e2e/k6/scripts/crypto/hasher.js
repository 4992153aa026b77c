// Hashes piece by piece.
import crypto from 'k6/crypto';
export default function () {
  const h = crypto.createHash('sha256'); h.update('hel'); h.update('lo'); console.log(h.digest('hex') === crypto.sha256('hello', 'hex'), h.digest('base64'));
  const m = crypto.createHMAC('sha256', 'k'); m.update('a'); m.update('b'); console.log(m.digest('hex') === crypto.hmac('sha256', 'k', 'ab', 'hex'));
}
