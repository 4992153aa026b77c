// Iterations last at least so long.
export const options = { iterations: 3, minIterationDuration: '100ms' };
export function setup() { return Date.now(); }
export default function () {}
export function teardown(begin) { console.log(Date.now() - begin >= 290); }
