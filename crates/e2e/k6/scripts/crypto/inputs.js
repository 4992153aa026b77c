// Text, buffers and views.
import crypto, { md5 } from 'k6/crypto';
export default function () { console.log(md5('ü€', 'hex'), md5(new Uint8Array([1, 2, 3]).buffer, 'hex'), md5(new Uint8Array([1, 2, 3]), 'hex'), crypto.hexEncode('hi'), crypto.hexEncode(new Uint8Array([255, 0]).buffer)); }
