import { expect } from 'https://jslib.k6.io/k6-testing/0.5.0/index.js';

const soft = expect.configure({ soft: true, colorize: false });
const said = (action) => {
  try {
    action();
    return 'passed';
  } catch (error) {
    return `${error.name} ${error.message}`;
  }
};

export default async function () {
  expect(42).toBe(42);
  expect({ a: [1, { b: undefined }] }).toEqual({ a: [1, {}] });
  expect([1, 2]).toContain(2);
  expect([{ a: 1 }]).toContainEqual({ a: 1 });
  expect({ a: { b: [3] } }).toHaveProperty('a.b[0]', 3);
  expect(0.1 + 0.2).toBeCloseTo(0.3);
  expect('abc').toHaveLength(3);
  expect('abc').not.toMatch(/z/);
  expect({ id: 7, name: 'x' }).toEqual({ id: expect.any(Number), name: expect.stringContaining('x') });
  expect(() => { throw new Error('bad thing'); }).toThrow('bad');
  console.log(said(() => soft(1).toBe(2)));
  console.log(said(() => soft(1, 'ones').not.toBe(1)));
  console.log(said(() => soft(null).toBeVisible()));
  let tries = 0;
  await expect(() => { if (++tries < 3) throw new Error('not yet'); }).toPass({ interval: 1 });
  console.log(tries);
}
