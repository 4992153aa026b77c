//@ log: levels
// Keys are matched without regard to case.
export const options = { VUS: 2, Iterations: 4 };
export default function () {}
