//@ env: K6_DNS=ttl=
// A key without a value.
export default function () {}
