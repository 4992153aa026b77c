// Methods of the standard library that scripts use.
export default function () {
  console.log([1, [2, [3, [4]]]].flat(Infinity).join(), [1, 2].flatMap((x) => [x, x * 2]).join(), [5, 1, 4].toSorted().join(), [1, 2, 3].at(-1));
  console.log([1, 2, 3].findLast((x) => x < 3), [1, 2, 3].findLastIndex((x) => x > 9), [1, 2, 3].with(1, 9).join(), [1, 2, 3, 4].toSpliced(1, 2).join(), [3, 1].toReversed().join());
  console.log('a-b-c'.replaceAll('-', '+'), 'abc'.at(-1), '5'.padStart(3, '0'), '[' + ' x '.trimEnd() + ']', 'ab'.repeat(2), 'Straße'.normalize('NFD').length);
  console.log([...'a1b22'.matchAll(/\d+/g)].map((m) => `${m.index}:${m[0]}`).join());
  console.log(Object.fromEntries([['a', 1]]).a, Object.entries({ x: 1, y: 2 }).join(';'), Object.hasOwn({ q: 1 }, 'q'), Object.getOwnPropertyNames('ab').join());
  console.log(Number.isInteger(5.0), Number.EPSILON > 0, (25).toString(2), (0.1 + 0.2).toFixed(10), (1e21).toString(), (123.456).toPrecision(4), (1234.5678).toExponential(2));
  console.log(Math.trunc(-4.7), Math.sign(-3), Math.cbrt(27), Math.hypot(3, 4), Math.log2(8), Math.fround(5.5), Math.clz32(1), Math.imul(3, 4));
  const map = new Map([['a', 1], ['b', 2]]); const set = new Set([1, 1, 2]);
  console.log(map.size, [...map.keys()].join(), set.size, [...set].join(), new WeakMap() instanceof WeakMap);
  console.log(JSON.stringify({ a: [1, { b: undefined, c: null }], d: new Date(0), e: NaN, f: 'é\u2028' }), JSON.stringify({ a: [1, 2] }, null, 2));
  console.log(JSON.parse('{"a":{"b":[1,2,{"c":3}]}}', (k, v) => (k === 'c' ? v * 2 : v)).a.b[2].c);
  console.log(new Date(Date.UTC(2024, 1, 29, 12, 30)).toISOString(), new Date('2024-02-29T12:30:00Z').getTime(), Date.parse('2020-01-01'));
  console.log(encodeURIComponent('a b&c/d?é'), decodeURIComponent('%C3%A9'), encodeURI('http://x/a b?q=é'), escape('é ü'), unescape('%E9'));
  console.log(parseInt('12px', 10), parseFloat('1.5e3x'), isNaN('x'), isFinite('5'), Number(''), Number('0x1f'), +true);
  const proxy = new Proxy({}, { get: (t, k) => `got ${String(k)}`, has: () => true });
  console.log(proxy.anything, 'x' in proxy, Reflect.ownKeys({ a: 1, [Symbol('s')]: 2 }).length, Symbol.for('k').toString(), Symbol('d').description);
  const bytes = new Uint8Array([1, 2, 300]); const view = new DataView(bytes.buffer); view.setUint16(0, 0x0102);
  console.log(bytes.join(), view.getUint16(0, true), new Float64Array(2).length, new Uint8Array(bytes.buffer, 1).join(), Array.from(new Int16Array([1, -1])).join());
  console.log([3, 1, 2].sort((p, q) => q - p).join(), ['b', 'a', 'C'].sort().join(), 'ä'.localeCompare('z') !== 0, [1, 2, 3].includes(2), [, 1].length);
}
