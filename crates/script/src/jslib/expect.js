// expect: functional tests whose expectations become checks, after the documentation of the
// library of that name.

import { check, group } from 'k6';

class ExpectationFailed extends Error {}

class Expectation {
  constructor(value) {
    this.value = value;
    this.alias = typeof value === 'object' ? JSON.stringify(value) : String(value);
    if (this.alias?.length > 100) this.alias = `${this.alias.slice(0, 97)}...`;
  }

  /** Names the value in the check. */
  as(alias) {
    this.alias = alias;
    return this;
  }

  /** Goes on with another value. */
  and(value) {
    return new Expectation(value);
  }

  record(name, holds, tags = {}) {
    if (!check(null, { [name]: holds }, tags)) throw new ExpectationFailed(name);
    return this;
  }

  /** Records a check that is tagged with the value. */
  recordValue(name, holds) {
    return this.record(name, holds, typeof this.value === 'object' ? {} : { value: String(this.value) });
  }

  toEqual(expected) {
    return this.recordValue(`${this.alias} is ${expected}.`, this.value === expected);
  }
  toBeGreaterThan(limit) {
    return this.recordValue(`${this.alias} is greater than ${limit}`, this.value > limit);
  }
  toBeGreaterThanOrEqual(limit) {
    return this.recordValue(`${this.alias} is greater or equal to ${limit}`, this.value >= limit);
  }
  toBeLessThan(limit) {
    return this.recordValue(`${this.alias} is less than ${limit}`, this.value < limit);
  }
  toBeLessThanOrEqual(limit) {
    return this.recordValue(`${this.alias} is less or equal to ${limit}`, this.value <= limit);
  }
  toBeBetween(from, to) {
    return this.record(`${this.alias} is between ${from} - ${to}`, this.value >= from && this.value <= to);
  }
  toBeTruthy() {
    return this.record(`${this.alias} is truthy.`, !!this.value);
  }
  toBeFalsy() {
    return this.record(`${this.alias} is falsy.`, !this.value);
  }
  toInclude(part) {
    return this.record(`${this.alias} includes ${part}.`, !!this.value?.includes(part));
  }
  toMatch(pattern) {
    return this.record(`${this.alias} matches ${pattern}.`, new RegExp(pattern).test(this.value));
  }
  toBeAnArray() {
    return this.record(`${this.alias} is an array.`, Array.isArray(this.value));
  }
  toHaveStatus(status) {
    return this.record(`${this.value.url} has status ${status}.`, this.value.status === status);
  }
  toHaveValidJson() {
    let isValid = true;
    try {
      this.value.json();
    } catch {
      isValid = false;
    }
    return this.record(`${this.value.url} has valid json response`, isValid);
  }
}

const context = { expect: (value) => new Expectation(value) };

/** A group that ends at the first expectation that is not met; whether all were. */
export function describe(name, body) {
  let holds = true;
  group(name, () => {
    try {
      body(context);
    } catch (error) {
      holds = false;
      if (error instanceof ExpectationFailed) return;
      console.error(`Exception raised in test "${name}". Failing the test and continuing. \n${error}`);
      check(null, { [`Exception raised "${error}"`]: false });
    }
  });
  return holds;
}

export const expect = context.expect;
export default { describe, expect };
