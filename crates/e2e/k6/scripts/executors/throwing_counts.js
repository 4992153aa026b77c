//@ log: sorted
// Iterations that throw count as iterations.
export const options = { vus: 2, iterations: 5 };
export default function () { if (__ITER >= 0) throw new Error('each'); }
