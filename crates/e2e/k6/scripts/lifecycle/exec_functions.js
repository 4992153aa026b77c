//@ log: sorted
// Named functions without a default.
export const options = {
  scenarios: {
    one: { executor: 'per-vu-iterations', exec: 'first', iterations: 2 },
    two: { executor: 'shared-iterations', exec: 'second', env: { WHO: 'two' }, tags: { kind: 'b' } },
  },
};
export function first() { console.log('first', __ENV.WHO, __ITER); }
export function second() { console.log('second', __ENV.WHO, __ITER); }
