//@ env: K6_VUS=many
//@ log: levels
// A variable's value that there is not.
export default function () {}
