//@ env: K6_ITERATIONS=3
//@ env: K6_VUS=3
// Variables replace what the script says.
export const options = { iterations: 1 };
export default function () {}
