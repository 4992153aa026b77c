// Where traces say that something happened: lines and columns of calls, `new`, properties, operations and throws.
const shown = (e) => String(e.stack).split('\n').slice(1).map((line) =>
  line.replace(/^\tat /, '').replace(/file:[^ ]*\//, '').replace(/\(\d+\)/, '').replace('(native)', 'native'));

function F() { throw new Error('in F'); }
class A { constructor(x) { this.x = x; if (x > 1) throw new Error('A ' + x); } static make(x) { return new A(x); } get g() { throw new Error('getter'); } set s(v) { throw new Error('setter'); } }
class B extends A { constructor() { super(5); } m() { return this.g; } }
class Own extends Error { constructor(m) { super(m); this.name = 'Own'; } }
const o = { m() { this.n(); }, n() { undefinedFn(); }, k: { l: null }, f: null, deep: { x: { y() { return undefined; } } } };
const n = null, u = undefined;
const tests = [
  () => new F(), () => new F, () => new A(2), () => A.make(3), () => new B(), () => { const a = new A(1); return a.g; }, () => { const a = new A(1); a.s = 4; },
  () => [1].map(x => { throw new Error('map'); }), () => [2, 1].sort((a, b) => { throw new Error('sort'); }), () => (() => { throw new Error('call'); }).call(null),
  () => (function () { throw new Error('b'); }).bind(null)(), () => (function foo() { throw new Error('b'); }).bind(null)(),
  () => o.m(), () => n.a, () => n.a.b, () => n.a(), () => n(), () => o.nope(), () => o.k.l.z, () => o.k.l.z(), () => o.k.l.z.y(), () => o['k']['l']['z'], () => o['k']['l']['z'](),
  () => u[0], () => u[0](), () => missing, () => missing(), () => missing.x, () => missing.x(), () => new missing(), () => new n(), () => new o.k(), () => new o.k.l.q(),
  () => o.k.l.x = 5, () => { o.k.l.x = F(); }, () => n.x = 1, () => n[0] = 1, () => { n.x++; }, () => { ++n.x; }, () => { n.x += 1; }, () => { delete n.x; },
  () => { throw new Own('own'); }, () => { throw   TypeError('called'); }, () => F() + 1, () => 1 + F(), () => 2 * o.k.l.x, () => Symbol() + '', () => `${Symbol()}`, () => `${F()}`,
  () => F(1,
    2), () => F(n.x), () => F(F()), () => o.deep.x.y().z, () => o.deep.x.y().z(), () => o.deep.x.y()(), () => o?.k.l.m, () => o?.k.l.m(), () => o.f?.(), () => o.nope?.x,
  () => o
    .k
    .l
    .z, () => o
    .deep
    .nope(),
  () => { if (n.x) { } }, () => { while (F()) { } }, () => n || F(), () => { return F(); }, () => { switch (F()) { } }, () => ({ a: F() }), () => [F()], () => F`x`, () => o.m`x`,
  () => { try { F(); } catch (e) { throw e; } }, () => { const e = new Error('early'); throw e; }, () => { (function () { F(); })(); }, () => { (() => F())(); }, () => eval('F()'),
  () => { for (const x of n); }, () => { for (const x in F()); }, () => new Array(-1), () => [...n], () => { let q = late; let late = 1; }, () => JSON.parse('{'),
  () => ({ [Symbol.iterator]() { throw new Error('it'); } })[Symbol.iterator](),
  () => { 'é'; F(); },
];

export default function () {
  tests.forEach((test, index) => {
    try {
      console.log(index, 'nothing', test());
    } catch (e) {
      console.log(index, shown(e).slice(0, 4).join(' ; '));
    }
  });
}
