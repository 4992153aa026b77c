// Errors that say themselves how they are told.
class Told extends Error { toString() { return `told: ${this.message}`; } }
class Bad extends Error { toString() { throw new Error('again'); } }
export const options = { iterations: 3 };
export default function () {
  if (__ITER === 0) throw new Told('x');
  if (__ITER === 1) Promise.reject(new Told('y'));
  if (__ITER === 2) throw Object.assign(new Error('z'), { name: 'Named' });
}
