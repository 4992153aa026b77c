//@ log: sorted
// What a virtual user keeps between iterations is its own.
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2, iterations: 3 } } };
let count = 0;
export default function () { count += 1; globalThis.seen = (globalThis.seen || 0) + 1; console.log(__VU, __ITER, count, globalThis.seen); }
