// splice, split and searches by expressions, and maps with keys of every kind, at random and at their edges.
export const options = { iterations: 1 };
let seed = 7;
const random = (below) => { seed = (seed * 48271) % 2147483647; return seed % below; };
const pick = (list) => list[random(list.length)];
const shown = (value) => JSON.stringify(value, (_, one) => (one === undefined ? 'undefined' : one));
const sum = (text) => { let all = 7; for (let at = 0; at < text.length; at++) all = (all * 31 + text.charCodeAt(at)) % 1000003; return all; };

function splices() {
  const places = [0, 1, 2, 5, -1, -3, 100, -100, 1.7, '2', NaN, undefined, null];
  let seen = '';
  for (let round = 0; round < 2000; round++) {
    const list = Array.from({ length: random(12) }, (_, at) => at);
    const args = Array.from({ length: random(6) }, (_, at) => (at < 2 ? pick(places) : `n${at}`));
    const taken = list.splice(...args);
    list.push('end');
    seen += shown([args, list, taken, list.length, taken.length]);
  }
  return sum(seen);
}

function odd_splices() {
  const attempt = (make) => { try { const list = make(); return shown([list, list.length]); } catch (error) { return error.name; } };
  const holes = [0, , 2, , 4, 5];
  const taken = holes.splice(1, 3, 'a');
  class Mine extends Array { get twice() { return this.length * 2; } }
  const mine = Mine.from([1, 2, 3, 4]);
  const of_mine = mine.splice(1, 2);
  const like = { length: 3, 0: 'a', 1: 'b', 2: 'c' };
  const of_like = Array.prototype.splice.call(like, 0, 1);
  const grows = [1, 2, 3, 4];
  const late = grows.splice(1, { valueOf() { grows.push(9); return 2; } });
  const itself = [1, 2, 3];
  itself.splice(1, 1, itself.length, itself[0]);
  const kept = new Array(5);
  kept.splice(2, 1, 'x');
  return [
    shown([holes, 1 in holes, 2 in holes, taken, 1 in taken, taken.length]),
    shown([mine, mine.twice, of_mine, of_mine instanceof Mine]), shown([like, of_like]), shown([grows, late]), shown(itself),
    shown([kept.length, Object.keys(kept)]),
    attempt(() => { const list = Object.freeze([1, 2, 3]); list.splice(0, 1); return list; }),
    attempt(() => { const list = Object.seal([1, 2, 3]); list.splice(0, 0, 5); return list; }),
    attempt(() => { const list = Object.preventExtensions([1, 2, 3]); list.splice(0, 1); return list; }),
    attempt(() => { const list = [1, 2, 3]; Object.defineProperty(list, 'length', { writable: false }); list.splice(0, 1); return list; }),
  ].join(' ');
}

function splits() {
  const texts = ['', 'a', 'a,b;c', 'a1b22c333', '\r\na\r\n\r\nb\n', 'aaa', 'ab'.repeat(9), 'ü€,😀;x', 'A,a,B', ' x  y ', 'x'.repeat(40)];
  const by = [/,/, /[,;]/, /\r?\n/, /\d+/, /(\d)(\d)?/, /(?:)/, /a*/, /a+?/, /(?=b)/, /(?<=a)b/, /b/i, /\s*/, /$/, /x{3}/, /(a)|(b)/, /,/g, /,/y, /./u, /😀/u, /€|,/, /(?<n>,)/, /(.)\1/];
  const limits = [undefined, 0, 1, 2, 3, 100];
  let seen = '';
  for (const text of texts) for (const one of by) for (const limit of limits) seen += shown(text.split(one, limit));
  const used = /,/g;
  used.lastIndex = 3;
  const parts = 'a,b,c,d'.split(used);
  return [sum(seen), shown(parts), used.lastIndex, shown('2024-05-06T07'.split(/[-T]/)), 'line\n'.repeat(5000).split(/\r?\n/).length].join(' ');
}

function searches() {
  const texts = ['', 'a', 'ba', 'xxab', 'abcabc', 'ü€a', '😀ab😀ab', 'aab', 'token="t1" token="t2"', 'A', '\uD83Da', 'é', 'ab\nab'];
  const by = [/a/, /ab/, /ab/g, /(a)(b)?/, /((a)b)/g, /a$/, /a\b/, /a{2}/, /a{0,2}b/, /a+b/, /a*b/, /a?b/, /(?:a|b)c/, /a(?=b)/, /a(?!b)/, /(?<=a)b/, /a/i, /a./s, /é/, /€/, /€a/, /😀a/, /😀a/u, /\uD83Da/, /\uDE00a/u, /token="(.*?)"/, /token="(.*?)"/g, /(?<n>a)b/, /^a/, /^a/m, /\u0161/];
  let seen = '';
  for (const text of texts) for (const one of by) {
    one.lastIndex = 0;
    const found = one.exec(text);
    seen += shown([found && found.index, found, one.lastIndex, text.search(one), text.replace(one, '[$&]'), text.match(one)]);
    one.lastIndex = 2;
    seen += shown([one.test(text), one.lastIndex]);
  }
  return sum(seen);
}

function hopeless_searches() {
  const words = 'some words that end in nothing and go on and on for a while '.repeat(20);
  const line = `${'x'.repeat(300)}="v1" ${'y'.repeat(300)}`;
  const by = [/^(?:\w+\s*)+END/, /(?:\w+\s*)+END/, /^(a|aa)+$/, /(x+x+)+y/, /(.*)(.*)(.*)="(v2)"/, /.*x="(v\d)" (.*)z/, /^(([a-z])+.)+[A-Z]([a-z])+$/];
  const good = [/(?:\w+\s*)+(on) for/, /(.*)(.*)="(v1)"/, /.*x="(v\d)" (.*)y/, /(x+x+)+=/];
  const found = (one, text) => { const all = one.exec(text); return all && [all.index, ...all.map((part) => part && part.length)]; };
  return shown([by.map((one) => [words, line, 'a'.repeat(500) + 'b'].map((text) => found(one, text))), good.map((one) => [words, line].map((text) => found(one, text)))]);
}

function places() {
  const texts = ['', 'a', 'abcabc', 'aaab', 'ü€a€', '😀ab', 'ab'.repeat(20), 'aab'];
  const wanted = ['', 'a', 'b', 'ab', 'bc', 'aab', '€', 'a€', '\uDE00', 'abcabcd', 'ü', 'ba'];
  let seen = '';
  for (const text of texts) for (const one of wanted) for (const from of [undefined, 0, 1, 3, -1, 100, NaN]) {
    seen += shown([text.indexOf(one, from), text.includes(one, from), text.lastIndexOf(one, from), text.startsWith(one, from), text.endsWith(one, from)]);
    seen += shown([text.split(one), one && text.replaceAll(one, '-')]);
  }
  return sum(seen);
}

function maps() {
  const kinds = {
    small: (at) => at, halves: (at) => at / 2, ids: (at) => 1700000000000 + at, steps: (at) => at * 65536, negative: (at) => -at, large: (at) => at * 2 ** 40,
    texts: (at) => `k${at}`, objects: () => ({}), wholes: (at) => BigInt(at), symbols: () => Symbol('s'), fractions: (at) => 1 / (at + 1),
  };
  return Object.keys(kinds).map((kind) => {
    const keys = Array.from({ length: 3000 }, (_, at) => kinds[kind](at));
    const map = new Map(keys.map((key, at) => [key, at]));
    const set = new Set(keys.concat(keys));
    const found = keys.every((key, at) => map.get(key) === at && set.has(key));
    const half = keys.filter((key, at) => at % 2 === 0 && map.delete(key)).length;
    return `${kind} ${found} ${set.size} ${half} ${map.size} ${map.has(keys[1])} ${map.has(keys[2])}`;
  }).join(', ');
}

export default function () {
  console.log(splices());
  console.log(odd_splices());
  console.log(splits());
  console.log(searches());
  console.log(hopeless_searches());
  console.log(places());
  console.log(maps());
  console.log(new Map([[0, 'a'], [-0, 'b'], [NaN, 'c'], [NaN, 'd'], ['0', 'e'], [true, 'f'], [1, 'g'], [1n, 'h']]).size, new Set([1, 1.0, '1', 1n]).size, new Map([[NaN, 1]]).get(0 / 0));
}
