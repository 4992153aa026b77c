//@ env: K6_ITERATIONS=5
//@ args: --iterations 2
// Flags replace what variables say.
export default function () {}
