//@ env: K6_VUS=two
//@ command: inspect
//@ stdout: exact
// Only the script's own options are inspected.
export const options = { vus: 2 };
export default function () {}
