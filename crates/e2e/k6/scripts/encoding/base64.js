// Base64 in its four alphabets, both ways.
import encoding, { b64encode, b64decode } from 'k6/encoding';
export default function () {
  for (const kind of ['std', 'rawstd', 'url', 'rawurl']) {
    const coded = b64encode('hi?>~ü', kind); console.log(kind, coded, b64decode(coded, kind, 's'), new Uint8Array(b64decode(coded, kind)).length);
  }
  console.log(encoding.b64encode(''), b64encode(new Uint8Array([0, 255, 128]).buffer), b64encode(new Uint8Array([1, 2])), b64decode('aGk=').byteLength, b64encode('x', undefined));
}
