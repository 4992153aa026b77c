// Objects and arrays.
export default function () {
  console.log({ b: [1, { c: 2 }], s: 'text', n: null, u: undefined, t: true, f: 1.5 });
  console.log([1, 'two', [3, [4]], { five: 5 }], [], {});
  console.log({ 'a-b': 1, 2: 'two', nested: { deep: { deeper: { deepest: 1 } } } });
  console.log([undefined, null, NaN], [[]], [{}]);
  console.log(Object.create(null), new (class Named { constructor() { this.x = 1; } })());
}
