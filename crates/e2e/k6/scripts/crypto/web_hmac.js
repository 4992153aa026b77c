// WebCrypto: HMAC.
const hex = (b) => Array.from(new Uint8Array(b)).map((x) => x.toString(16).padStart(2, '0')).join('');
export default async function () {
  const data = new TextEncoder().encode('data');
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode('secret'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
  const s = await crypto.subtle.sign('HMAC', key, data); console.log(hex(s), await crypto.subtle.verify('HMAC', key, s, data), await crypto.subtle.verify('HMAC', key, s, new Uint8Array([1])));
  try { await crypto.subtle.exportKey('raw', key); console.log('exported'); } catch (e) { console.log(e.name); }
}
