// What is taken for lengths and bytes of an algorithm.
export default async function () {
  const subtle = crypto.subtle;
  const text = new TextEncoder().encode('x');
  const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const made = await subtle.generateKey({ name: 'AES-GCM', length: '128' }, true, ['encrypt']);
  console.log(made.algorithm.length);
  const cbc = await subtle.importKey('raw', new Uint8Array(16), 'AES-CBC', true, ['encrypt']);
  console.log(hex(await subtle.encrypt({ name: 'AES-CBC', iv: new Array(16).fill(0) }, cbc, text)));
  console.log(hex(await subtle.encrypt({ name: 'AES-CBC', iv: '0000000000000000' }, cbc, text)));
  const gcm = await subtle.importKey('raw', new Uint8Array(16), 'AES-GCM', true, ['encrypt']);
  const iv = new Uint8Array(12);
  console.log(hex(await subtle.encrypt({ name: 'AES-GCM', iv, tagLength: '96' }, gcm, text)));
  console.log(hex(await subtle.encrypt({ name: 'AES-GCM', iv, additionalData: 'aad' }, gcm, text)));
  const secret = await subtle.importKey('raw', text, 'PBKDF2', false, ['deriveBits']);
  console.log(hex(await subtle.deriveBits({ name: 'PBKDF2', salt: 's', iterations: 1, hash: 'SHA-256' }, secret, 128)));
}
