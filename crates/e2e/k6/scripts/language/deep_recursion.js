import { group } from 'k6';

const plain = (n) => (n ? plain(n - 1) + 1 : 0);
const mapped = (n) => (n ? [1].map(() => mapped(n - 1))[0] + 1 : 0);
const replaced = (n) => 'a'.replace('a', () => (n ? replaced(n - 1) : 'end'));
const grouped = (n) => (n ? group('g', () => grouped(n - 1)) + 1 : 0);
const waited = async (n) => (n ? (await waited(n - 1)) + 1 : 0);
class Chain {
  constructor(n) {
    if (n) this.next = new Chain(n - 1);
  }
  get length() {
    return this.next ? this.next.length + 1 : 0;
  }
}
function* yielded(n) {
  if (n) yield* yielded(n - 1);
  else yield 'yielded';
}

console.log('init', plain(10000));

export function setup() {
  console.log('setup', plain(10000));
}

export default async function () {
  console.log(plain(20000), mapped(5000), replaced(2000), grouped(50), new Chain(10000).length);
  console.log(await waited(2000), [...yielded(1000)].join());
  const text = '['.repeat(5000) + ']'.repeat(5000);
  console.log(JSON.stringify(JSON.parse(text)) === text);
  const many = Array.from({ length: 150000 }, (_, n) => n % 100);
  const list = [];
  console.log(Math.max(...many), list.push(...many), String.fromCharCode(...many).length);
}

export function teardown() {
  console.log('teardown', plain(10000));
}

export function handleSummary() {
  console.log('summary', plain(10000));
  return {};
}
