// A rejection that is handled late.
export default function () { const p = Promise.reject(new Error('late')); setTimeout(() => p.catch(() => console.log('too late')), 400); }
