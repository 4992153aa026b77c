// k6chaijs: chai's language of expectations, each a check, after the documentation of chai's BDD
// interface and of the library of that name.

import { check, group } from 'k6';
import exec from 'k6/execution';

const config = {
  truncateMsgThreshold: 300,
  truncateVariableThreshold: 100,
  aggregateChecks: true,
  logFailures: false,
  exitOnError: false,
};

/** What versions differ in; the text of a version says what is otherwise with it. */
const dialect = {
  /** Checks and reasons are the whole message, with the name before it and the value in it. */
  whole: false,
  /** Values are told in chai 4.3.4's form. */
  plain: false,
};

export class AssertionError extends Error {
  constructor(message, actual, expected) {
    super(message);
    this.name = 'AssertionError';
    Object.assign(this, { actual, expected });
  }
}

/** Characters of a value that messages show. */
const SHOWN = 40;
const ESCAPES = { '\n': '\\n', '\t': '\\t', '\r': '\\r', "'": "\\'", '\\': '\\\\', '\b': '\\b', '\f': '\\f' };
const cut = (text, limit) => (text.length > limit ? `${text.slice(0, limit)}...` : text);
const named = (value) => (value.name ? ` ${value.name}` : '');
const keyText = (key) => (/^[a-zA-Z_]\w*$/.test(key) ? key : quoted(key, Infinity));

function quoted(value, room) {
  const text = /[\n\t\r'\\\b\f]/.test(value) ? escaped(value) : value;
  return text.length + 2 > room ? `'${text.slice(0, room - 3)}…'` : `'${text}'`;
}
function escaped(value) {
  return value.replace(/[\n\t\r'\\\b\f]/g, (one) => ESCAPES[one] ?? one);
}

/** As many of the parts as there is room for, and how many are left. */
function listed(items, room, tell) {
  let text = '';
  for (let i = 0; i < items.length; i++) {
    const left = items.length - i - 1;
    const end = left ? ', ' : '';
    const told = tell(items[i], room - text.length - end.length) + end;
    const rest = left ? `…(${left})` : '';
    if (text.length + told.length + rest.length > room) return `${text}…(${left + 1})`;
    text += told;
  }
  return text;
}

const entryOf = (value) => (key, room) => {
  const begin = `${keyText(key)}: `;
  return begin + told(value[key], room - begin.length);
};

/** A value in the form of chai since 4.3.7. */
function told(value, room) {
  if (typeof value === 'string') return quoted(value, room);
  if (typeof value === 'number') return value === 0 ? (Object.is(value, -0) ? '-0' : '+0') : String(value);
  if (typeof value === 'function') return `[Function${named(value)}]`;
  if (typeof value !== 'object' || value === null || value instanceof RegExp) return String(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Error) return String(value);
  if (Array.isArray(value)) return value.length ? `[ ${listed(value, room - 4, told)} ]` : '[]';
  if (value instanceof Set) return `Set{ ${listed([...value], room - 8, told)} }`;
  if (value instanceof Map) return 'Map{}';
  const { name } = value.constructor ?? {};
  const kind = name && name !== 'Object' ? name : '';
  const keys = Object.keys(value);
  return keys.length ? `${kind}{ ${listed(keys, room - kind.length - 4, entryOf(value))} }` : `${kind}{}`;
}

/** A value in the form of chai 4.3.4: three levels deep, and whole. */
function plain(value, level) {
  if (typeof value === 'string') return quoted(value, Infinity);
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (typeof value === 'function') return `[Function${value.name ? `: ${value.name}` : ''}]`;
  if (typeof value !== 'object' || value === null || value instanceof RegExp) return String(value);
  if (value instanceof Date) return value.toUTCString();
  if (value instanceof Error) return `[${value}]`;
  const isArray = Array.isArray(value);
  const keys = Object.keys(value);
  if (keys.length === 0) return isArray ? '[]' : '{}';
  if (level > 2) return isArray ? '[Array]' : '[Object]';
  const part = (key) => (isArray ? '' : `${keyText(key)}: `) + plain(value[key], level + 1);
  const parts = keys.map(part).join(', ');
  return isArray ? `[ ${parts} ]` : `{ ${parts} }`;
}

/** Words that messages show as they are. */
class Words {
  constructor(text) { this.text = text; }
}

/** Versions after 4.3.4.0 leave the word out. */
const but = () => (dialect.whole ? ' but' : '');

function inspected(value) {
  if (value instanceof Words) return value.text;
  if (!dialect.plain) return told(value, SHOWN);
  const text = plain(value, 0);
  const isObject = typeof value === 'object' && value !== null && !(value instanceof Date || value instanceof RegExp || value instanceof Error);
  if (text.length < SHOWN || !isObject) return cut(text, config.truncateVariableThreshold);
  if (Array.isArray(value)) return `[ Array(${value.length}) ]`;
  const keys = Object.keys(value);
  return `{ Object (${keys.length > 2 ? [...keys.slice(0, 2), '...'].join(', ') : keys.join(', ')}) }`;
}

/** Characters of a message. */
const limit = () => (dialect.plain ? config.truncateMsgThreshold : config.truncateVariableThreshold);
const put = (template, mark, text) => (template.includes(mark) ? template.split(mark).join(text) : template);
const withExpected = (template, expected) => (template.includes('#{exp}') ? put(template, '#{exp}', inspected(expected)) : template);

function typeOf(value) {
  return Object.prototype.toString.call(value).slice(8, -1).toLowerCase();
}

/** chai's deep equality: the same kind, and equal parts; NaN equals NaN, 0 is not -0. */
function equals(one, two) {
  if (Object.is(one, two)) return true;
  if (one === null || two === null || typeof one !== 'object' || typeof two !== 'object') return false;
  const type = typeOf(one);
  if (type !== typeOf(two)) return false;
  if (type === 'date' || type === 'number' || type === 'string' || type === 'boolean') {
    return Object.is(one.valueOf(), two.valueOf());
  }
  if (type === 'regexp') return String(one) === String(two);
  if (type === 'error') return one.name === two.name && one.message === two.message;
  if (type === 'arraybuffer') return equals(new Uint8Array(one), new Uint8Array(two));
  if (type === 'map' || type === 'set') {
    return one.size === two.size && [...one].every((item) => [...two].some((other) => equals(item, other)));
  }
  const keys = Object.keys(one);
  return keys.length === Object.keys(two).length && keys.every((key) => Object.hasOwn(two, key) && equals(one[key], two[key]));
}

const article = (type) => (/^[aeiou]/.test(type) ? 'an' : 'a');

class Assertion {
  constructor(value, name, flags = {}) {
    this.value = value;
    this.name = name;
    this.flags = flags;
  }

  /** Records a check; throws when it fails. `#{this}`, `#{exp}` and `#{act}` stand for the values. */
  assert(holds, message, negated, expected, actual = this.value) {
    const { negate } = this.flags;
    const passed = negate ? !holds : !!holds;
    const template = negate ? negated : message;
    check(null, { [this.checkName(template, expected, actual)]: passed });
    if (passed) return this;
    const why = dialect.whole ? this.checkName(template, expected, actual) : cut(this.reason(template, expected, actual), limit());
    if (config.logFailures && !dialect.whole) console.warn(why);
    if (config.exitOnError) exec.test.abort(why);
    throw new AssertionError(why, actual, expected);
  }

  checkName(template, expected, actual) {
    if (config.aggregateChecks && !dialect.whole) {
      const name = this.flags.hides ? this.shown() : this.name || '${this}';
      return cut(put(put(withExpected(template, expected), '#{act}', '${actual}'), '#{this}', name), limit());
    }
    const reason = this.reason(template, expected, actual);
    const whole = this.name ? `${this.name}: ${reason}` : reason;
    return dialect.whole ? cut(whole, limit()) : whole;
  }

  reason(template, expected, actual) {
    const text = withExpected(template, expected);
    const told = text.includes('#{act}') ? put(text, '#{act}', inspected(actual)) : text;
    return put(told, '#{this}', this.shown());
  }

  /** The value in a message. */
  shown() { return this.flags.hides ? '<anonymized>' : inspected(this.value); }

  /** Throws, without a check, for what the value cannot be asked. */
  refuse(why) { throw new AssertionError(this.name === undefined ? why : `${this.name}: ${why}`, this.value); }

  /** The same, with the name that a message of its own gives it. */
  called(name) { return name ? new Assertion(this.value, name, this.flags) : this; }

  /** Another value, that must hold first. */
  first(value) { return new Assertion(value, this.name); }

  anonymize() { return this.with_({ hides: true }); }

  with_(flags) {
    return new Assertion(this.value, this.name, { ...this.flags, ...flags });
  }

  get not() { return this.with_({ negate: true }); }
  get deep() { return this.with_({ deep: true }); }
  get nested() { return this.with_({ nested: true }); }
  get own() { return this.with_({ own: true }); }
  get ordered() { return this.with_({ ordered: true }); }
  get any() { return this.with_({ any: true, all: false }); }
  get all() { return this.with_({ all: true, any: false }); }

  isSame(one, two) { return this.flags.deep ? equals(one, two) : one === two; }

  equal(expected, name) {
    if (this.flags.deep) return this.eql(expected, name);
    return this.called(name).assert(this.value === expected, 'expected #{this} to equal #{exp}', 'expected #{this} to not equal #{exp}', expected);
  }
  eql(expected, name) {
    return this.called(name).assert(equals(this.value, expected), 'expected #{this} to deeply equal #{exp}', 'expected #{this} to not deeply equal #{exp}', expected);
  }
  a(type, name) {
    const wanted = type.toLowerCase();
    const kind = `${article(wanted)} ${wanted}`;
    const holds = typeOf(this.value) === wanted || (wanted === 'function' && typeof this.value === 'function');
    return this.called(name).assert(holds, `expected #{this} to be ${kind}`, `expected #{this} not to be ${kind}`, type);
  }
  instanceof(type, name) {
    return this.called(name).assert(this.value instanceof type, `expected #{this} to be an instance of ${type.name}`, `expected #{this} to not be an instance of ${type.name}`, type);
  }

  /** The value, or with `length` before, its length. */
  measure() {
    if (this.flags.length) {
      const key = this.value instanceof Map || this.value instanceof Set ? 'size' : 'length';
      this.first(this.value).property(key);
      return this.value[key];
    }
    if (typeof this.value !== 'number' && !(this.value instanceof Date)) this.refuse(`expected ${inspected(this.value)} to be a number or a date`);
    return this.value;
  }
  compare(holds, word, opposite, limit, name) {
    const self = this.called(name);
    const actual = self.measure();
    if (!this.flags.length) return self.assert(holds(actual), `expected #{this} to be ${word} #{exp}`, `expected #{this} to be ${opposite} #{exp}`, limit);
    const not = word === 'at least' ? 'have a length below' : word === 'at most' ? 'have a length above' : `not have a length ${word}`;
    return self.assert(holds(actual), `expected #{this} to have a length ${word} #{exp}${but()} got #{act}`, `expected #{this} to ${not} #{exp}`, limit, actual);
  }
  above(limit, name) { return this.compare((value) => value > limit, 'above', 'at most', limit, name); }
  least(limit, name) { return this.compare((value) => value >= limit, 'at least', 'below', limit, name); }
  below(limit, name) { return this.compare((value) => value < limit, 'below', 'at least', limit, name); }
  most(limit, name) { return this.compare((value) => value <= limit, 'at most', 'above', limit, name); }
  within(from, to, name) {
    const self = this.called(name);
    const actual = self.measure();
    const range = `${this.flags.length ? 'have a length' : 'be'} within ${from}..${to}`;
    return self.assert(actual >= from && actual <= to, `expected #{this} to ${range}`, `expected #{this} to not ${range}`);
  }
  closeTo(expected, delta, name) {
    const self = this.called(name);
    self.first(this.value).a('number');
    return self.assert(Math.abs(this.value - expected) <= delta, `expected #{this} to be close to ${expected} +/- ${delta}`, `expected #{this} not to be close to ${expected} +/- ${delta}`);
  }

  include(part, name) {
    const { value } = this;
    const self = this.called(name);
    let holds;
    if (typeof value === 'string') holds = value.includes(part);
    else if (Array.isArray(value)) holds = value.some((item) => this.isSame(item, part));
    else if (value instanceof Set || value instanceof Map) holds = [...value.values()].some((item) => this.isSame(item, part));
    else return self.includeParts(part);
    const deep = this.flags.deep ? 'deep ' : '';
    return self.assert(holds, `expected #{this} to ${deep}include #{exp}`, `expected #{this} to not ${deep}include #{exp}`, part);
  }
  includeParts(part) {
    const isPart = typeof part === 'object' && part !== null;
    if (!isPart || typeof this.value !== 'object' || this.value === null) {
      this.refuse(`the given combination of arguments (${typeOf(this.value)} and ${typeOf(part)}) is invalid for this assertion. `
        + 'You can use an array, a map, an object, a set, a string, or a weakset instead of a '
        + typeOf(part));
    }
    const keys = Object.keys(part);
    if (this.flags.negate && keys.some((key) => !this.isSame(this.reached(key), part[key]))) return this;
    for (const key of keys) this.property(key, part[key]);
    return this;
  }

  reached(path) {
    if (!this.flags.nested) return this.value?.[path];
    const keys = String(path).replace(/\[(\w+)\]/g, '.$1').replace(/^\./, '').split('.');
    return keys.reduce((value, key) => value?.[key], this.value);
  }
  property(path, ...rest) {
    const self = this.called(rest[1]);
    if (this.value === null || this.value === undefined) self.refuse('Target cannot be null or undefined.');
    const found = this.reached(path);
    const isThere = this.flags.own ? Object.hasOwn(this.value, path) : found !== undefined || path in Object(this.value);
    const kind = `${this.flags.deep ? 'deep ' : ''}${this.flags.own ? 'own ' : ''}${this.flags.nested ? 'nested ' : ''}property`;
    const what = `${kind} ${inspected(path)}`;
    const { negate } = this.flags;
    if (!negate || rest.length === 0) self.assert(isThere, `expected #{this} to have ${what}`, `expected #{this} to not have ${what}`, path);
    if (rest.length > 0) {
      const holds = isThere && this.isSame(found, rest[0]);
      self.assert(holds, `expected #{this} to have ${what} of #{exp},${but()} got #{act}`, `expected #{this} to not have ${what} of #{act}`, rest[0], found);
    }
    return new Assertion(found, self.name, this.flags);
  }
  ownProperty(path, ...rest) { return this.with_({ own: true }).property(path, ...rest); }
  lengthOf(length, name) {
    const self = this.called(name);
    const key = this.value instanceof Map || this.value instanceof Set ? 'size' : 'length';
    self.first(this.value).property(key);
    const actual = this.value[key];
    return self.assert(actual === length, `expected #{this} to have a length of #{exp}${but()} got #{act}`, 'expected #{this} to not have a length of #{act}', length, actual);
  }
  keys(...names) {
    const wanted = names.flatMap((name) => (Array.isArray(name) || typeof name !== 'object' ? name : Object.keys(name)));
    const actual = this.value instanceof Map ? [...this.value.keys()] : Object.keys(this.value);
    const isThere = (key) => actual.some((one) => one === (this.value instanceof Map ? key : String(key)));
    const isExact = this.flags.contains || actual.length === wanted.length;
    const holds = this.flags.any ? wanted.some(isThere) : wanted.every(isThere) && isExact;
    const texts = wanted.map(inspected);
    const last = texts.pop();
    const list = texts.length ? `keys ${texts.join(', ')}, ${this.flags.any ? 'or' : 'and'} ${last}` : `key ${last}`;
    const verb = this.flags.contains ? 'contain' : 'have';
    return this.assert(holds, `expected #{this} to ${verb} ${list}`, `expected #{this} to not ${verb} ${list}`, wanted);
  }
  members(expected, name) {
    const { value } = this;
    const self = this.called(name);
    self.first(value).a('array');
    self.first(expected).a('array');
    const isSuper = expected.every((item) => value.some((other) => this.isSame(item, other)));
    const inOrder = !this.flags.ordered || expected.every((item, i) => this.isSame(item, value[i]));
    const holds = isSuper && inOrder && (this.flags.contains || value.length === expected.length);
    const { ordered, contains } = this.flags;
    const kind = contains ? `be ${ordered ? 'an ordered' : 'a'} superset of` : `have the same ${ordered ? 'ordered ' : ''}members as`;
    return self.assert(holds, `expected #{this} to ${kind} #{exp}`, `expected #{this} to not ${kind} #{exp}`, expected);
  }
  oneOf(list, name) {
    const self = this.called(name);
    self.first(list).a('array');
    return self.assert(list.some((item) => this.isSame(item, this.value)), 'expected #{this} to be one of #{exp}', 'expected #{this} to not be one of #{exp}', list);
  }
  match(pattern, name) {
    return this.called(name).assert(pattern.test(this.value), `expected #{this} to match ${pattern}`, `expected #{this} not to match ${pattern}`, pattern);
  }
  string(part, name) {
    const self = this.called(name);
    self.first(this.value).a('string');
    return self.assert(this.value.includes(part), 'expected #{this} to contain #{exp}', 'expected #{this} to not contain #{exp}', part);
  }
  satisfy(test, name) {
    return this.called(name).assert(test(this.value), `expected #{this} to satisfy ${inspected(test)}`, `expected #{this} to not satisfy ${inspected(test)}`);
  }
  respondTo(method, name) {
    return this.called(name).assert(typeof this.value?.[method] === 'function', 'expected #{this} to respond to #{exp}', 'expected #{this} to not respond to #{exp}', method);
  }
  throw(type, message, name) {
    const self = this.called(name);
    self.first(this.value).a('function');
    let thrown;
    let hasThrown = false;
    try {
      this.value();
    } catch (error) {
      [thrown, hasThrown] = [error, true];
    }
    const isType = typeof type === 'function';
    const text = isType ? message : type;
    const wanted = isType ? type.name : 'an error';
    const said = String(thrown?.message ?? thrown);
    const fitsType = !isType || thrown instanceof type;
    const fitsText = text === undefined || (text instanceof RegExp ? text.test(said) : said.includes(text));
    const instead = `${but()} #{act} was thrown`;
    const whole = new Words(`'${thrown}'`);
    if (this.flags.negate) {
      const what = isType ? `'${wanted}'` : 'an error';
      return self.assert(hasThrown && fitsType && fitsText, '', `expected #{this} to not throw ${what}${instead}`, undefined, whole);
    }
    self.assert(hasThrown, `expected #{this} to throw ${wanted}`);
    if (!fitsType) self.assert(false, `expected #{this} to throw '${wanted}'${instead}`, '', undefined, whole);
    if (!fitsText) {
      const kind = text instanceof RegExp ? 'matching' : 'including';
      self.assert(false, `expected #{this} to throw error ${kind} ${inspected(text)}${but()} got #{act}`, '', undefined, new Words(`'${said}'`));
    }
    return new Assertion(thrown, self.name, this.flags);
  }

  /** Of k6chaijs: the body of a response is JSON. */
  validJsonBody() {
    let isValid = true;
    try {
      this.value.json();
    } catch {
      isValid = false;
    }
    return this.assert(isValid, 'has valid json body', 'does not have a valid json body');
  }
}

/** Words that read well and mean nothing. */
for (const word of ['to', 'be', 'been', 'is', 'that', 'which', 'and', 'has', 'have', 'with', 'at', 'of', 'same', 'but', 'does', 'still', 'also']) {
  Object.defineProperty(Assertion.prototype, word, { get() { return this; }, configurable: true });
}

/** Statements about a value that need no other. */
const STATES = {
  ok: [(value) => !!value, 'to be truthy', 'to be falsy'],
  true: [(value) => value === true, 'to be true', 'to be false'],
  false: [(value) => value === false, 'to be false', 'to be true'],
  null: [(value) => value === null, 'to be null', 'not to be null'],
  undefined: [(value) => value === undefined, 'to be undefined', 'not to be undefined'],
  NaN: [(value) => Number.isNaN(value), 'to be NaN', 'not to be NaN'],
  exist: [(value) => value !== null && value !== undefined, 'to exist', 'to not exist'],
  finite: [(value) => Number.isFinite(value), 'to be a finite number', 'to not be a finite number'],
  empty: [(value) => (value.length ?? value.size ?? Object.keys(value).length) === 0, 'to be empty', 'not to be empty'],
};
for (const [word, [holds, words, not]] of Object.entries(STATES)) {
  Object.defineProperty(Assertion.prototype, word, {
    get() {
      const { value } = this;
      if (word === 'empty' && typeof value === 'function') this.refuse(`.empty was passed a function${named(value)}`);
      if (word === 'empty' && typeof value !== 'string' && Object(value) !== value) this.refuse(`.empty was passed non-string primitive ${String(value)}`);
      return this.assert(holds(value), `expected #{this} ${words}`, `expected #{this} ${not}`);
    },
    configurable: true,
  });
}

/** Words that are both: called they are a method, else they go on with flags. */
function chainable(word, method, flags) {
  Object.defineProperty(Assertion.prototype, word, {
    get() {
      const next = this.with_(flags);
      const call = (...args) => next[method](...args);
      return new Proxy(call, {
        get: (_, key) => {
          const value = next[key];
          return typeof value === 'function' ? value.bind(next) : value;
        },
      });
    },
    configurable: true,
  });
}
const typeCheck = Assertion.prototype.a;
Assertion.prototype.ofType = typeCheck;
for (const word of ['a', 'an']) chainable(word, 'ofType', {});
Assertion.prototype.includes_ = Assertion.prototype.include;
for (const word of ['include', 'includes', 'contain', 'contains']) chainable(word, 'includes_', { contains: true });
for (const word of ['length', 'lengthOf']) {
  if (word === 'lengthOf') Assertion.prototype.lengthOf_ = Assertion.prototype.lengthOf;
  else Assertion.prototype.lengthOf_ ??= Assertion.prototype.lengthOf;
  chainable(word, 'lengthOf_', { length: true });
}

const ALIASES = {
  equals: 'equal', eq: 'equal', eqls: 'eql', gt: 'above', greaterThan: 'above', gte: 'least',
  greaterThanOrEqual: 'least', lt: 'below', lessThan: 'below', lte: 'most', lessThanOrEqual: 'most',
  instanceOf: 'instanceof', haveOwnProperty: 'ownProperty', matches: 'match', satisfies: 'satisfy',
  approximately: 'closeTo', key: 'keys', throws: 'throw', Throw: 'throw', respondsTo: 'respondTo',
};
for (const [alias, method] of Object.entries(ALIASES)) Assertion.prototype[alias] = Assertion.prototype[method];

/** Begins an expectation; `name` is what the check calls the value. */
export function expect(value, name) {
  return new Assertion(value, name);
}
expect.fail = (...args) => {
  throw new AssertionError((args.length === 1 ? args[0] : args[2]) ?? 'expect.fail()');
};

/** A group that ends at the first expectation that is not met; whether all were. */
export function describe(name, body) {
  let holds = true;
  group(name, () => {
    try {
      body();
    } catch (error) {
      holds = false;
      if (error instanceof AssertionError) return;
      console.error(`Exception raised in test "${name}". Failing the test and continuing. \n${error}`);
      check(null, { [`Exception raised "${error}"`]: false });
    }
  });
  return holds;
}

export const chai = {
  config,
  expect,
  Assertion,
  AssertionError,
  util: { inspect: inspected, eql: equals, type: typeOf },
  use(plugin) {
    plugin(chai, chai.util);
    return chai;
  },
};
export { Assertion, config };
export default chai;
