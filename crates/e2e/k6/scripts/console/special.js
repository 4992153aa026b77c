// Functions, errors, dates, maps, buffers, cycles.
export default function () {
  console.log(new Error('e'), new TypeError('t'));
  console.log(function named() {}, () => 1, class A {});
  console.log(new Date(0), { d: new Date(0) });
  console.log(new Map([[1, 2]]), new Set([1]), /a.b/gi);
  console.log(new ArrayBuffer(4), new Uint8Array([1, 2, 255]));
  const cycle = { name: 'c' }; cycle.self = cycle;
  console.log(cycle);
  console.log({ f: () => 1, toJSON() { return 'json'; } });
  console.log([new Error('in array')], { e: new Error('in object') });
}
