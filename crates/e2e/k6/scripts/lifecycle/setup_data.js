// What setup returns reaches iterations and teardown as JSON; each reader has a copy.
export const options = { vus: 2, iterations: 4 };
export function setup() { return { n: 1, list: [1, { a: 'b' }], date: new Date(0), nothing: undefined }; }
export default function (data) {
  if (__ITER === 0) data.n += 1;
  if (data.n !== 2) throw new Error('the copy is not kept');
}
export function teardown(data) { console.log(data.n, JSON.stringify(data.list), data.date, data.nothing, Object.keys(data).sort().join()); }
