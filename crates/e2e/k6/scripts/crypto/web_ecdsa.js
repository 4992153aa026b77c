// WebCrypto: signatures and shared secrets on curves.
export default async function () {
  const data = new TextEncoder().encode('data'); const alg = { name: 'ECDSA', namedCurve: 'P-256' };
  const pair = await crypto.subtle.generateKey(alg, true, ['sign', 'verify']); const how = { name: 'ECDSA', hash: 'SHA-256' };
  const s = await crypto.subtle.sign(how, pair.privateKey, data); console.log(s.byteLength, await crypto.subtle.verify(how, pair.publicKey, s, data), pair.publicKey.type, pair.privateKey.type, (await crypto.subtle.exportKey('raw', pair.publicKey)).byteLength);
  const jwk = await crypto.subtle.exportKey('jwk', pair.publicKey); console.log(jwk.kty, jwk.crv, typeof jwk.x);
  const ec = { name: 'ECDH', namedCurve: 'P-256' }; const a = await crypto.subtle.generateKey(ec, true, ['deriveBits']); const b = await crypto.subtle.generateKey(ec, true, ['deriveBits']);
  const one = await crypto.subtle.deriveBits({ name: 'ECDH', public: b.publicKey }, a.privateKey, 256); const two = await crypto.subtle.deriveBits({ name: 'ECDH', public: a.publicKey }, b.privateKey, 256);
  console.log(one.byteLength, new Uint8Array(one).join() === new Uint8Array(two).join());
}
