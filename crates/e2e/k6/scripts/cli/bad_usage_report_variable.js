//@ env: K6_NO_USAGE_REPORT=maybe
// A switch that means nothing.
export default function () {}
