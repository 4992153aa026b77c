// WebCrypto: RSA.
export default async function () {
  const data = new TextEncoder().encode('data'); const base = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' };
  const oaep = await crypto.subtle.generateKey({ name: 'RSA-OAEP', ...base }, true, ['encrypt', 'decrypt']); const c = await crypto.subtle.encrypt({ name: 'RSA-OAEP' }, oaep.publicKey, data);
  console.log(c.byteLength, String.fromCharCode(...new Uint8Array(await crypto.subtle.decrypt({ name: 'RSA-OAEP' }, oaep.privateKey, c))));
  for (const [name, more] of [['RSASSA-PKCS1-v1_5', {}], ['RSA-PSS', { saltLength: 32 }]]) { const p = await crypto.subtle.generateKey({ name, ...base }, true, ['sign', 'verify']); const s = await crypto.subtle.sign({ name, ...more }, p.privateKey, data); console.log(name, s.byteLength, await crypto.subtle.verify({ name, ...more }, p.publicKey, s, data)); }
}
