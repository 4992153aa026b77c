//@ env: K6_ITERATIONS=9
//@ args: -e K6_VUS=2 -e K6_ITERATIONS=4 -e K6_TAGS=a:b -e K6_NO_SETUP=true
// Variables of k6 that -e sets configure it, before those of the process.
export function setup() { console.log('not called'); }
export default function () { console.log(__ENV.K6_VUS); }
