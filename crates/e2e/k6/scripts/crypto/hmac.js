// Keyed hashes.
import crypto from 'k6/crypto';
export default function () { for (const h of ['md5', 'sha1', 'sha256', 'sha384', 'sha512', 'sha512_224', 'sha512_256', 'ripemd160', 'md4']) console.log(h, crypto.hmac(h, 'secret', 'data', 'hex')); console.log(crypto.hmac('sha256', new Uint8Array([1]).buffer, new Uint8Array([2]).buffer, 'hex'), crypto.hmac('sha256', '', '', 'hex')); }
