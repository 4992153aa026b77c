// WebCrypto: AES in three modes.
const hex = (b) => Array.from(new Uint8Array(b)).map((x) => x.toString(16).padStart(2, '0')).join('');
export default async function () {
  const raw = new Uint8Array(16).map((_, i) => i); const data = new TextEncoder().encode('attack at dawn'); const iv = new Uint8Array(16).fill(7);
  for (const alg of [{ name: 'AES-CBC', iv }, { name: 'AES-CTR', counter: iv, length: 64 }, { name: 'AES-GCM', iv: iv.slice(0, 12) }]) {
    const key = await crypto.subtle.importKey('raw', raw, alg.name, true, ['encrypt', 'decrypt']);
    const sealed = await crypto.subtle.encrypt(alg, key, data); console.log(alg.name, hex(sealed), String.fromCharCode(...new Uint8Array(await crypto.subtle.decrypt(alg, key, sealed))), key.type, key.extractable, key.usages.join(), key.algorithm.name, key.algorithm.length);
  }
  const made = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['encrypt']); console.log((await crypto.subtle.exportKey('raw', made)).byteLength, (await crypto.subtle.exportKey('jwk', made)).kty);
}
