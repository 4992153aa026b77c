// WebCrypto: digests.
const hex = (b) => Array.from(new Uint8Array(b)).map((x) => x.toString(16).padStart(2, '0')).join('');
export default async function () { const d = new TextEncoder().encode('hello'); for (const a of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512', { name: 'sha-256' }]) console.log(hex(await crypto.subtle.digest(a, d))); try { await crypto.subtle.digest('MD5', d); } catch (e) { console.log(e.name); } }
