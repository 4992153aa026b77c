// k6-testing: expectations in the manner of Playwright, after the documentation of the library of
// that name. Those about pages of a browser are refused: there is none.

import exec from 'k6/execution';

const DEFAULTS = { timeout: 5000, interval: 100, colorize: true, display: 'pretty', soft: false, softMode: 'throw' };

export class AssertionFailedError extends Error {
  constructor(message) {
    super(message);
    this.name = 'AssertionFailedError';
  }
}

const isObject = (value) => typeof value === 'object' && value !== null;
const kindOf = (value) => Object.prototype.toString.call(value).slice(8, -1);

/** Equality of values and all that they hold; `undefined` properties count as absent. */
function equals(one, two) {
  if (isMatcher(two)) return two.matches(one);
  if (Object.is(one, two)) return true;
  if (!isObject(one) || !isObject(two) || kindOf(one) !== kindOf(two)) return false;
  if (one instanceof Date) return Object.is(one.getTime(), two.getTime());
  if (one instanceof RegExp) return String(one) === String(two);
  if (one instanceof Error) return one.name === two.name && one.message === two.message;
  if (one instanceof ArrayBuffer) return equals(new Uint8Array(one), new Uint8Array(two));
  if (one instanceof Set || one instanceof Map) {
    return one.size === two.size && [...one].every((item) => [...two].some((other) => equals(item, other)));
  }
  if (Array.isArray(one) && one.length !== two.length) return false;
  const keys = new Set([...Object.keys(one), ...Object.keys(two)]);
  return [...keys].every((key) => equals(one[key], two[key]));
}

const isMatcher = (value) => value instanceof Matcher;

/** A value that equals many: what `expect.any()` and its kin give. */
class Matcher {
  constructor(name, matches) {
    this.name = name;
    this.matches = matches;
  }
  toJSON() { return this.name; }
}

function printed(value) {
  if (typeof value === 'string') return value;
  if (typeof value === 'function') return value.name || 'function';
  if (value instanceof RegExp || value instanceof Error) return String(value);
  if (!isObject(value)) return String(value);
  try {
    return JSON.stringify(value);
  } catch {
    return String(value);
  }
}

/** The value at a path such as `a.b[0].c`, and whether it is there. */
function reached(value, path) {
  const keys = Array.isArray(path) ? path : path.replace(/\[(\w+)\]/g, '.$1').replace(/^\./, '').split('.');
  let current = value;
  for (const key of keys) {
    if (current === null || current === undefined || !(key in Object(current))) return { isThere: false };
    current = current[key];
  }
  return { isThere: true, value: current };
}

const lengthOf = (value) => value.length ?? value.size;

function contains(value, part, same) {
  if (typeof value === 'string') return value.includes(part);
  return [...value].some((item) => same(item, part));
}

function thrownBy(action) {
  try {
    action();
  } catch (error) {
    return { error };
  }
  return undefined;
}

function throws(action, expected) {
  const thrown = thrownBy(action);
  if (!thrown || expected === undefined) return !!thrown;
  if (typeof expected === 'function') return thrown.error instanceof expected;
  const message = String(thrown.error?.message ?? thrown.error);
  if (expected instanceof RegExp) return expected.test(message);
  return expected instanceof Error ? message === expected.message : message.includes(expected);
}

/** Whether the expectation of a name holds. */
const HOLDS = {
  toBe: (actual, expected) => Object.is(actual, expected),
  toBeCloseTo: (actual, expected, digits = 2) =>
    actual === expected || Math.abs(actual - expected) < 10 ** -digits / 2,
  toBeDefined: (actual) => actual !== undefined,
  toBeFalsy: (actual) => !actual,
  toBeGreaterThan: (actual, limit) => actual > limit,
  toBeGreaterThanOrEqual: (actual, limit) => actual >= limit,
  toBeInstanceOf: (actual, type) => actual instanceof type,
  toBeLessThan: (actual, limit) => actual < limit,
  toBeLessThanOrEqual: (actual, limit) => actual <= limit,
  toBeNaN: (actual) => Number.isNaN(actual),
  toBeNull: (actual) => actual === null,
  toBeTruthy: (actual) => !!actual,
  toBeUndefined: (actual) => actual === undefined,
  toContain: (actual, part) => contains(actual, part, Object.is),
  toContainEqual: (actual, part) => contains(actual, part, equals),
  toEqual: (actual, expected) => equals(actual, expected),
  toStrictEqual: (actual, expected) => equals(actual, expected),
  toHaveLength: (actual, length) => lengthOf(actual) === length,
  toHaveProperty: (actual, path, ...expected) => {
    const found = reached(actual, path);
    return found.isThere && (expected.length === 0 || equals(found.value, expected[0]));
  },
  toMatch: (actual, pattern) =>
    pattern instanceof RegExp ? pattern.test(actual) : actual.includes(pattern),
  toMatchObject: (actual, part) =>
    Object.keys(part).every((key) => (isObject(part[key]) && !isMatcher(part[key]) ? HOLDS.toMatchObject(actual?.[key] ?? {}, part[key]) : equals(actual?.[key], part[key]))),
  toThrow: (action, expected) => throws(action, expected),
};

/** Expectations about pages of a browser. */
const OF_BROWSERS = [
  'toBeAttached', 'toBeChecked', 'toBeDisabled', 'toBeEditable', 'toBeEmpty', 'toBeEnabled', 'toBeFocused',
  'toBeHidden', 'toBeInViewport', 'toBeVisible', 'toContainText', 'toHaveAttribute', 'toHaveText',
  'toHaveTitle', 'toHaveURL', 'toHaveValue',
];

const RED = '\x1b[31m';
const GREEN = '\x1b[32m';
const RESET = '\x1b[0m';

function report(matcher, { actual, message, negated, config }, args) {
  const paint = (color, text) => (config.colorize ? `${color}${text}${RESET}` : text);
  const not = negated ? 'not.' : '';
  const wanted = args.map(printed).join(', ');
  const head = message ?? `expect(received).${not}${matcher}(${args.length > 0 ? 'expected' : ''})`;
  if (config.display === 'inline') {
    return `error="${head}" expected="${negated ? 'not ' : ''}${wanted}" received="${printed(actual)}"`;
  }
  const lines = [`Error: ${head}`, ''];
  if (args.length > 0) lines.push(`Expected: ${negated ? 'not ' : ''}${paint(GREEN, wanted)}`);
  lines.push(`Received: ${paint(RED, printed(actual))}`);
  return lines.join('\n');
}

/** An expectation that is not met: the end of the test, or if it is soft, of the iteration or nothing. */
function fail(told, config) {
  if (!config.soft) {
    console.error(told);
    exec.test.abort(told);
  }
  if (config.softMode === 'throw') throw new AssertionFailedError(told);
  console.error(told);
  exec.test.fail(told);
}

class Expectation {
  constructor(actual, message, config, negated = false) {
    Object.assign(this, { actual, message, config, negated });
  }

  get not() {
    return new Expectation(this.actual, this.message, this.config, !this.negated);
  }

  /** Waits until the value's own function gives something that meets the expectations in `body`. */
  async toPass(options = {}) {
    const { timeout, interval } = { ...this.config, ...options };
    const end = Date.now() + timeout;
    for (;;) {
      try {
        return await this.actual();
      } catch (error) {
        if (Date.now() >= end) return fail(`Error: ${this.message ?? error.message}`, this.config);
      }
      await new Promise((resolve) => { setTimeout(resolve, interval); });
    }
  }
}

for (const [matcher, holds] of Object.entries(HOLDS)) {
  Expectation.prototype[matcher] = function (...args) {
    if (!!holds(this.actual, ...args) === this.negated) fail(report(matcher, this, args), this.config);
  };
}
for (const matcher of OF_BROWSERS) {
  Expectation.prototype[matcher] = function () {
    throw new Error(`${matcher}() is about pages of a browser, and loadline drives none`);
  };
}

function expecting(config) {
  const expect = (actual, message) => new Expectation(actual, message, config);
  expect.soft = (actual, message) => new Expectation(actual, message, { ...config, soft: true });
  expect.configure = (options) => expecting({ ...config, ...options });
  expect.any = (type) => new Matcher(`any(${type.name})`, (value) => value instanceof type || typeof value === type.name.toLowerCase());
  expect.anything = () => new Matcher('anything()', (value) => value !== null && value !== undefined);
  expect.arrayContaining = (items) =>
    new Matcher('arrayContaining()', (value) => Array.isArray(value) && items.every((item) => value.some((other) => equals(other, item))));
  expect.objectContaining = (part) =>
    new Matcher('objectContaining()', (value) => isObject(value) && Object.keys(part).every((key) => equals(value[key], part[key])));
  expect.stringContaining = (part) => new Matcher('stringContaining()', (value) => typeof value === 'string' && value.includes(part));
  expect.stringMatching = (pattern) => new Matcher('stringMatching()', (value) => typeof value === 'string' && new RegExp(pattern).test(value));
  expect.closeTo = (number, digits) => new Matcher('closeTo()', (value) => HOLDS.toBeCloseTo(value, number, digits));
  return expect;
}

export const expect = expecting(DEFAULTS);
export default { expect, AssertionFailedError };
