// Syntax up to ES2022.
class Account {
  static #count = 0;
  static { Account.#count = 10; }
  #balance = 0;
  owner = 'nobody';
  get balance() { return this.#balance; }
  set balance(value) { this.#balance = value; }
  #secret() { return `secret of ${this.owner}`; }
  tell() { return this.#secret(); }
  static count() { return ++Account.#count; }
  has(other) { return #balance in other; }
}
class Saver extends Account {
  constructor(...args) { super(); [this.owner = 'anon', this.rate] = args; }
  tell() { return `${super.tell()}!`; }
}
function* numbers(n) { for (let i = 0; i < n; i++) yield i; return 'done'; }
export default function () {
  const saver = new Saver('ann', 3);
  saver.balance = 1_000;
  console.log(saver.tell(), saver.balance, Account.count(), saver.has(saver), saver.has({}));
  const { a, b: { c = 5, ...rest } = {}, ...others } = { a: 1, b: { d: 2 }, e: 3, f: 4 };
  console.log(a, c, JSON.stringify(rest), JSON.stringify(others));
  const nothing = null;
  console.log(nothing?.x, nothing?.x.y.z, nothing ?? 'default', 0 ?? 1, nothing?.[0], nothing?.());
  let x = null; x ??= 7; let y = 0; y ||= 8; let z = 1; z &&= 9;
  console.log(x, y, z, 2 ** 10, 2n ** 64n, typeof 1n, 0b101, 0o17, 0xff);
  console.log([...numbers(3)].join(), Array.from(numbers(2)).length);
  label: for (let i = 0; i < 3; i++) { for (;;) { if (i === 1) break label; continue label; } }
  try { throw new Error('e', { cause: 'why' }); } catch ({ message, cause }) { console.log(message, cause); }
  try { null.x; } catch { console.log('caught without binding'); }
  const tagged = (parts, ...values) => parts.raw.join('|') + values.join('+');
  console.log(tagged`a\n${1}b${2}c`);
  const key = 'dyn'; const o = { [`${key}_1`]: 1, get g() { return 2; }, async m() {}, *n() {}, __proto__: { inherited: 3 } };
  console.log(o.dyn_1, o.g, o.inherited, Object.keys(o).join());
}
