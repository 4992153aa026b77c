// A scenario without one.
export const options = { scenarios: { a: { vus: 1 } } };
export default function () {}
