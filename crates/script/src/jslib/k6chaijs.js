// k6chaijs: chai's language of expectations, each a check, after the documentation of chai's BDD
// interface and of the library of that name.

import { check, group } from 'k6';

const config = {
  truncateMsgThreshold: 300,
  truncateVariableThreshold: 100,
  aggregateChecks: true,
  logFailures: false,
  exitOnError: false,
};

export class AssertionError extends Error {
  constructor(message, actual, expected) {
    super(message);
    this.name = 'AssertionError';
    Object.assign(this, { actual, expected });
  }
}

function inspected(value) {
  let text;
  if (typeof value === 'string') text = `'${value}'`;
  else if (typeof value === 'function') text = `[Function${value.name ? `: ${value.name}` : ''}]`;
  else if (value instanceof Error) text = `[${value}]`;
  else if (value instanceof RegExp || typeof value !== 'object' || value === null) text = String(value);
  else if (Array.isArray(value)) text = `[ ${value.map(inspected).join(', ')} ]`;
  else text = objectText(value);
  const limit = config.truncateVariableThreshold;
  return text.length > limit ? `${text.slice(0, limit)}...` : text;
}

function objectText(value) {
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Map) return `Map${inspected([...value])}`;
  if (value instanceof Set) return `Set${inspected([...value])}`;
  const entries = Object.entries(value).map(([key, one]) => `${key}: ${typeof one === 'object' && one ? '...' : inspected(one)}`);
  return entries.length ? `{ ${entries.join(', ')} }` : '{}';
}

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

  /** Records a check; throws when it fails. `#{this}` and `#{exp}` stand for the values. */
  assert(holds, message, negated, expected) {
    const passed = this.flags.negate ? !holds : !!holds;
    const template = this.flags.negate ? negated : message;
    const told = (value) => template
      .replace('#{this}', () => value)
      .replace('#{exp}', () => inspected(expected))
      .replace('#{act}', () => inspected(this.value));
    const named = this.name ?? inspected(this.value);
    let checkName = told(config.aggregateChecks && this.name === undefined ? '${this}' : named);
    const limit = config.truncateMsgThreshold;
    if (checkName.length > limit) checkName = `${checkName.slice(0, limit)}...`;
    check(null, { [checkName]: passed });
    if (passed) return this;
    const reason = `${this.name === undefined ? '' : `${this.name}: `}${told(inspected(this.value))}`;
    if (config.logFailures) console.warn(reason);
    throw new AssertionError(reason, this.value, expected);
  }

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

  equal(expected) {
    if (this.flags.deep) return this.eql(expected);
    return this.assert(this.value === expected, 'expected #{this} to equal #{exp}', 'expected #{this} to not equal #{exp}', expected);
  }
  eql(expected) {
    return this.assert(equals(this.value, expected), 'expected #{this} to deeply equal #{exp}', 'expected #{this} to not deeply equal #{exp}', expected);
  }
  a(type) {
    const wanted = type.toLowerCase();
    const told = `${article(wanted)} ${wanted}`;
    const holds = typeOf(this.value) === wanted || (wanted === 'function' && typeof this.value === 'function');
    return this.assert(holds, `expected #{this} to be ${told}`, `expected #{this} not to be ${told}`, type);
  }
  instanceof(type) {
    return this.assert(this.value instanceof type, `expected #{this} to be an instance of ${type.name}`, `expected #{this} to not be an instance of ${type.name}`, type);
  }

  /** The value, or with `length` before, its length. */
  measure() {
    if (!this.flags.length) return [this.value, ''];
    const { length, size } = this.value;
    return [length ?? size, ' have a length'];
  }
  compare(holds, told, not, limit) {
    const [actual, length] = this.measure();
    const be = length || ' be';
    return this.assert(holds(actual), `expected #{this} to${be} ${told} #{exp}`, `expected #{this} to${length ? ' not have a length' : be} ${not} #{exp}`, limit);
  }
  above(limit) { return this.compare((value) => value > limit, 'above', 'at most', limit); }
  least(limit) { return this.compare((value) => value >= limit, 'at least', 'below', limit); }
  below(limit) { return this.compare((value) => value < limit, 'below', 'at least', limit); }
  most(limit) { return this.compare((value) => value <= limit, 'at most', 'above', limit); }
  within(from, to) {
    const [actual, length] = this.measure();
    const range = `within ${from}..${to}`;
    return this.assert(actual >= from && actual <= to, `expected #{this} to${length || ' be'} ${range}`, `expected #{this} to not${length || ' be'} ${range}`);
  }
  closeTo(expected, delta) {
    const holds = Math.abs(this.value - expected) <= delta;
    return this.assert(holds, `expected #{this} to be close to ${expected} +/- ${delta}`, `expected #{this} not to be close to ${expected} +/- ${delta}`);
  }

  include(part) {
    const { value } = this;
    let holds;
    if (typeof value === 'string') holds = value.includes(part);
    else if (Array.isArray(value)) holds = value.some((item) => this.isSame(item, part));
    else if (value instanceof Set || value instanceof Map) holds = [...value.values()].some((item) => this.isSame(item, part));
    else holds = value != null && Object.keys(part).every((key) => this.isSame(this.reached(key), part[key]));
    const deep = this.flags.deep ? 'deep ' : '';
    return this.assert(holds, `expected #{this} to ${deep}include #{exp}`, `expected #{this} to not ${deep}include #{exp}`, part);
  }

  reached(path) {
    if (!this.flags.nested) return this.value?.[path];
    const keys = String(path).replace(/\[(\w+)\]/g, '.$1').replace(/^\./, '').split('.');
    return keys.reduce((value, key) => value?.[key], this.value);
  }
  property(path, ...expected) {
    const found = this.reached(path);
    const isThere = this.flags.own ? Object.hasOwn(this.value, path) : found !== undefined || path in Object(this.value);
    const kind = `${this.flags.deep ? 'deep ' : ''}${this.flags.own ? 'own ' : ''}${this.flags.nested ? 'nested ' : ''}property`;
    const told = `${kind} ${inspected(path)}`;
    if (expected.length > 0) {
      const holds = isThere && this.isSame(found, expected[0]);
      this.assert(holds, `expected #{this} to have ${told} of #{exp}`, `expected #{this} to not have ${told} of #{exp}`, expected[0]);
    } else {
      this.assert(isThere, `expected #{this} to have ${told}`, `expected #{this} to not have ${told}`, path);
    }
    return this.flags.negate ? this : new Assertion(found, this.name, {});
  }
  ownProperty(path, ...expected) { return this.with_({ own: true }).property(path, ...expected); }
  lengthOf(length) {
    const actual = this.value?.length ?? this.value?.size;
    return this.assert(actual === length, `expected #{this} to have a length of #{exp} but got ${actual}`, 'expected #{this} to not have a length of #{exp}', length);
  }
  keys(...names) {
    const wanted = names.flatMap((name) => (Array.isArray(name) || typeof name !== 'object' ? name : Object.keys(name)));
    const actual = this.value instanceof Map ? [...this.value.keys()] : Object.keys(this.value);
    const isThere = (key) => actual.includes(key);
    const isExact = this.flags.contains || actual.length === wanted.length;
    const holds = this.flags.any ? wanted.some(isThere) : wanted.every(isThere) && isExact;
    const told = `${this.flags.any ? 'any ' : ''}${wanted.length > 1 ? 'keys' : 'key'} ${wanted.map(inspected).join(', ')}`;
    return this.assert(holds, `expected #{this} to have ${told}`, `expected #{this} to not have ${told}`, wanted);
  }
  members(expected) {
    const { value } = this;
    const isSuper = expected.every((item) => value.some((other) => this.isSame(item, other)));
    const inOrder = !this.flags.ordered || expected.every((item, i) => this.isSame(item, value[i]));
    const holds = isSuper && inOrder && (this.flags.contains || value.length === expected.length);
    const kind = this.flags.contains ? 'be a superset of' : 'have the same members as';
    return this.assert(holds, `expected #{this} to ${kind} #{exp}`, `expected #{this} to not ${kind} #{exp}`, expected);
  }
  oneOf(list) {
    return this.assert(list.some((item) => this.isSame(item, this.value)), 'expected #{this} to be one of #{exp}', 'expected #{this} to not be one of #{exp}', list);
  }
  match(pattern) {
    return this.assert(pattern.test(this.value), `expected #{this} to match ${pattern}`, `expected #{this} not to match ${pattern}`, pattern);
  }
  string(part) {
    return this.assert(String(this.value).includes(part), 'expected #{this} to contain #{exp}', 'expected #{this} to not contain #{exp}', part);
  }
  satisfy(test) {
    return this.assert(test(this.value), `expected #{this} to satisfy ${inspected(test)}`, `expected #{this} to not satisfy ${inspected(test)}`);
  }
  respondTo(method) {
    return this.assert(typeof this.value?.[method] === 'function', 'expected #{this} to respond to #{exp}', 'expected #{this} to not respond to #{exp}', method);
  }
  throw(type, message) {
    let thrown;
    let hasThrown = false;
    try {
      this.value();
    } catch (error) {
      [thrown, hasThrown] = [error, true];
    }
    const isType = typeof type === 'function';
    const text = isType ? message : type;
    const said = String(thrown?.message ?? thrown);
    const fits = text === undefined || (text instanceof RegExp ? text.test(said) : said.includes(text));
    const holds = hasThrown && (!isType || thrown instanceof type) && fits;
    const told = isType ? type.name : text === undefined ? 'an error' : `error ${text instanceof RegExp ? 'matching' : 'including'} ${inspected(text)}`;
    return this.assert(holds, `expected #{this} to throw ${told}`, `expected #{this} to not throw ${told}`);
  }

  /** Of k6chaijs: the body of a response is JSON. */
  validJsonBody() {
    let isValid = true;
    try {
      this.value.json();
    } catch {
      isValid = false;
    }
    const quiet = new Assertion(this.value, this.name ?? '', this.flags);
    quiet.assert(isValid, 'has valid json body', 'has no valid json body');
    return this;
  }
}

/** Words that read well and mean nothing. */
for (const word of ['to', 'be', 'been', 'is', 'that', 'which', 'and', 'has', 'have', 'with', 'at', 'of', 'same', 'but', 'does', 'still', 'also']) {
  Object.defineProperty(Assertion.prototype, word, { get() { return this; }, configurable: true });
}

/** Statements about a value that need no other. */
const STATES = {
  ok: [(value) => !!value, 'be truthy', 'be falsy'],
  true: [(value) => value === true, 'be true', 'be false'],
  false: [(value) => value === false, 'be false', 'be true'],
  null: [(value) => value === null, 'be null', 'not be null'],
  undefined: [(value) => value === undefined, 'be undefined', 'not be undefined'],
  NaN: [(value) => Number.isNaN(value), 'be NaN', 'not be NaN'],
  exist: [(value) => value !== null && value !== undefined, 'exist', 'not exist'],
  finite: [(value) => Number.isFinite(value), 'be a finite number', 'not be a finite number'],
  empty: [(value) => (value?.length ?? value?.size ?? Object.keys(Object(value)).length) === 0, 'be empty', 'not be empty'],
};
for (const [word, [holds, told, not]] of Object.entries(STATES)) {
  Object.defineProperty(Assertion.prototype, word, {
    get() { return this.assert(holds(this.value), `expected #{this} to ${told}`, `expected #{this} to ${not}`); },
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
expect.fail = (message = 'expect.fail()') => {
  check(null, { [message]: false });
  throw new AssertionError(message);
};

/** An error with its trace; some engines leave the message out of the trace. */
function traced(error) {
  const trace = String(error?.stack ?? '');
  return trace.includes(String(error)) ? trace : `${error}\n${trace}`;
}

/** A group that ends at the first expectation that is not met; whether all were. */
export function describe(name, body) {
  let holds = true;
  group(name, () => {
    try {
      body();
    } catch (error) {
      holds = false;
      if (error instanceof AssertionError) return;
      if (config.exitOnError) throw error;
      console.error(`Exception raised in test "${name}". Failing the test and continuing.\n${traced(error)}`);
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
