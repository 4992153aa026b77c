// What is there and what is not, in init and in an iteration.
const names = ['__ENV', '__VU', '__ITER', 'console', 'open', 'require', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'crypto', 'TextEncoder', 'TextDecoder', 'globalThis', 'process', 'window', 'Buffer', 'document'];
const kinds = () => names.map((name) => `${name}:${typeof globalThis[name]}`).join(' ');
console.log(kinds());
export default function () { console.log(kinds()); }
