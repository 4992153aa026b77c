//@ env: K6_VUS=two
// The script has loaded before a variable is found wrong.
console.log('loaded');
export const options = { unknown: 1 };
export default function () {}
