// Random bytes and UUIDs.
import k6crypto from 'k6/crypto';
export default function () {
  const a = k6crypto.randomBytes(16); const b = new Uint8Array(16); const same = crypto.getRandomValues(b);
  console.log(a instanceof ArrayBuffer, a.byteLength, same === b, b.some((x) => x !== 0), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()), crypto.randomUUID() !== crypto.randomUUID());
}
