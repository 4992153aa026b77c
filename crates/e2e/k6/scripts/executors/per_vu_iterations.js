//@ log: sorted
// Iterations of each virtual user.
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 3, iterations: 2 } } };
export default function () { console.log(__VU, __ITER); }
