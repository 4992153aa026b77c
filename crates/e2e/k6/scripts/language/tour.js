// A tour of the language: generators, classes, destructuring, collections, proxies, big integers, promises.
import { sleep } from 'k6';
function* gen(n) { for (let i = 0; i < n; i++) { const r = yield i * i; if (r) console.log('got', r); } return 'end'; }
class P { #x = 1; static #count = 0; static make() { P.#count++; return new P(); } get x() { return this.#x; } set x(v) { this.#x = v; } static get count() { return P.#count; } #priv() { return 'priv' + this.#x; } callPriv() { return this.#priv(); } has(o) { return #x in o; } static { this.init = 'static block'; } [Symbol.toPrimitive](h) { return h === 'number' ? 42 : 'P!'; } toString() { return 'P-string'; } }
class Q extends P { constructor() { super(); this.q = super.x; } get [Symbol.toStringTag]() { return 'Q'; } }
export default async function () {
  const it = gen(3); console.log(it.next(), it.next('a'), it.next(), it.next(), it.next());
  console.log([...gen(4)], Array.from(gen(2)), Math.max(...gen(5)));

  const p = P.make(); p.x = 5; console.log(p.x, P.count, p.callPriv(), p.has(p), p.has({}), P.init, `${p}`, +p, p + '', new Q().q, Object.prototype.toString.call(new Q()), String(p));
  const o = { a: 1, b: { c: [1, 2, { d: null }] }, ['k' + 1]: 2, get g() { return this.a; }, 'x-y': 3, 1: 'one' };
  const { a, b: { c: [first, , { d = 'def' }] }, ...rest } = o; console.log(a, first, d, rest, o?.b?.c?.[5]?.x ?? 'none', o.zip?.(), o.b.c.at(-1));
  outer: for (let i = 0; i < 3; i++) { for (let j = 0; j < 3; j++) { if (j === 1) continue outer; if (i === 2) break outer; console.log(i, j); } }
  const m = new Map([['a', 1], [{ k: 1 }, 2]]); const s = new Set([1, '1', NaN, NaN]); console.log(m, s, m.size, s.size, [...m.keys()].length, new WeakMap(), Symbol('s'), Symbol.for('t').description);
  console.log([3, 1, 2].sort(), [1, 10, 2].sort(), ['b', undefined, 'a'].sort(), [1, [2, [3, [4]]]].flat(2), [1, 2, 3].includes(NaN), [NaN].indexOf(NaN), [NaN].includes(NaN), Array(3), [, 1], [undefined, null], new Array(2).fill(0), Array.of(7), [1, 2, 3].findLast((x) => x < 3), [1, 2, 3, 4].copyWithin(0, 2), Object.entries({ x: 1 }), [..."h😀"].length);
  console.log(typeof null, typeof undefined, typeof (() => 1), typeof 1n, typeof Symbol(), void 0, 0 === -0, Object.is(0, -0), NaN !== NaN, [] + {}, [] == false, null == undefined, null == 0, '5' * '2', '5' + 2, 5 / 0, -5 % 3, 2 ** 10, 7 >>> 1, ~5, 1 << 31, 0xff, 1e3, .5, 0b101, 0o17);
  console.log(10n ** 20n, BigInt(10), BigInt.asUintN(8, 257n), 5n / 2n, -5n % 3n, typeof (5n * 2n), 1n < 2, 2n == 2, BigInt('0xff'), (123n).toString(16));
  const prox = new Proxy({}, { get: (t, k) => k === 'then' ? undefined : `got ${String(k)}`, has: () => true, ownKeys: () => ['z'], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }) }); console.log(prox.foo, 'x' in prox, Object.keys(prox));
  console.log(Reflect.ownKeys({ b: 1, a: 2, 1: 3, [Symbol('q')]: 4 }).length, Reflect.has({ a: 1 }, 'a'), Reflect.apply(Math.max, null, [1, 2]), Reflect.construct(Date, [0]).getTime());
  console.log(`t${1 + 1}${`n${'x'}`}`, String.raw`a\n${1}`, ((s, ...v) => s.join('|') + v.join(','))`a${1}b${2}c`, 'abc'.padStart(5, '*'), 'abc'.padEnd(5), 'a-b'.split('-'), 'x'.repeat(3), ' t '.trim(), 'abc'.slice(-2), 'abc'.substring(2, 0), 'abc'.substr(-2, 1), 'a,b'.replace(',', '$&$&'), 'aXbX'.replaceAll('X', '-'), 'abc'.charCodeAt(1), 'abc'.codePointAt(0), 'ß'.toUpperCase(), 'İ'.toLowerCase().length, 'abc'.localeCompare('abd'), 'é'.normalize('NFD').length, encodeURIComponent('a b&c/ü'), encodeURI('a b&c/ü'), decodeURIComponent('%C3%BC'), escape('ü a'), unescape('%FC'));
  try { null.f(); } catch { console.log('no binding'); } finally { console.log('finally'); }
  const f = function () { return arguments.length + [...arguments].join(); }; console.log(f(1, 2), f.length, f.name, ((a, b = 1, ...c) => 1).length, (() => { }).name, new Function('a', 'b', 'return a+b')(1, 2), eval('1+1'), (function () { return typeof this; })(), (() => typeof this)());
  var hoisted = typeof later; function later() { } console.log(hoisted, typeof notDefined);
  console.log(parseInt('12px'), parseInt('z', 36), parseFloat('1.5e3x'), Number(''), Number('0x1f'), Number(null), Number(undefined), Number([5]), Number('1_0'), (25).toString(2), (0.1).toFixed(20), (1e21).toLocaleString(), (1234.5678).toFixed(2), (0).toFixed(1), (-1.5).toFixed(0), 1.005.toFixed(2), (1e-7).toString(), 123456789012345680000 + '', 0.1 + 0.2, 1 / 3, 100 .toExponential(), (1234.5678).toPrecision(6), Number.MAX_SAFE_INTEGER, Number.EPSILON > 0, Number.isInteger(5.0), Math.round(-0.5), Math.round(2.5), Math.trunc(-4.7), Math.sign(-3), Math.hypot(3, 4), Math.cbrt(27), Math.log2(8), Math.fround(5.5), Math.clz32(1), Math.imul(3, 4));
  switch (3) { case 1: console.log(1); default: console.log('d'); case 2: console.log(2); break; case 4: console.log(4); }
  const e = new Error('msg', { cause: 'why' }); console.log(e, e.cause, e.name, e instanceof Error, Object.keys(e), String(e), new TypeError('t').toString(), JSON.stringify(e));
  console.log(Object.getOwnPropertyNames(class { static a() { } }).sort(), Object.fromEntries([['a', 1]]), Object.assign({}, null, { a: 1 }), Object.freeze([1]), structuredCloneLike({ a: [1] }), { ...'ab', ...[9], ...null }, Object.getPrototypeOf([]) === Array.prototype, JSON.stringify({ date: new Date(0), u: undefined, f() { }, n: null, nan: NaN, inf: -Infinity, nested: [undefined] }), JSON.stringify([1, { a: 2 }], null, '--'), JSON.stringify({ b: 1, a: 2 }, ['a']), JSON.stringify('a"\\\u2028'), JSON.parse('[1,{"a":2}]', (k, v) => typeof v === 'number' ? v + 1 : v));
  const results = await Promise.allSettled([Promise.resolve(1), Promise.reject(new Error('r')), 3]); console.log(results.map((r) => r.status + (r.value ?? r.reason.message)));
  console.log(await Promise.race([new Promise((r) => setTimeout(r, 20, 'slow')), new Promise((r) => setTimeout(r, 1, 'fast'))]), await Promise.any([Promise.reject(1), Promise.resolve(2)]), await (async () => { try { await Promise.reject(new Error('x')); } catch (err) { return err.message; } finally { console.log('af'); } })());
  try { await Promise.any([Promise.reject(1)]); } catch (err) { console.log(err.constructor.name, err.message, err.errors); }
  const ws = new WeakSet(); const k = {}; ws.add(k); console.log(ws.has(k), globalThis === this, typeof globalThis);
  console.log(new Intl_().x, isNaN('x'), isFinite('5'), [1, 2, 3].reduceRight((a, b) => a + '-' + b), [..."abc"].entries().next(), Array.from({ length: 2 }, (_, i) => i * 2), [1, 2, 3, 4, 5].slice(-3, -1), [5, 1, 4].toString(), [1, 2, 3].join('; '), [[1, 2], [3]].flatMap((x) => x), [1, 2, 3].some((x) => x > 2), [1, 2, 3].every((x) => x > 2), [0, 1].lastIndexOf(1), [1, 2, 3, 4].splice(1, 2));
}
class Intl_ { x = 'field'; }
function structuredCloneLike(x) { return JSON.parse(JSON.stringify(x)); }
