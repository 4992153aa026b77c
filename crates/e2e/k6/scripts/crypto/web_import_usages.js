// Imported keys of a pair may have usages that they are of no use for.
export default async function () {
  const both = ['sign', 'verify'];
  const how = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const pair = await crypto.subtle.generateKey(how, true, both);
  for (const key of [pair.privateKey, pair.publicKey]) {
    const jwk = await crypto.subtle.exportKey('jwk', key);
    delete jwk.key_ops;
    const again = await crypto.subtle.importKey('jwk', jwk, how, true, both);
    console.log(again.type, again.usages);
  }
  const data = new Uint8Array(3);
  console.log(await crypto.subtle.verify(how, pair.publicKey, await crypto.subtle.sign(how, pair.privateKey, data), data));
}
