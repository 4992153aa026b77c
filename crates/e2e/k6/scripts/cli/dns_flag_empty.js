//@ args: --dns ttl=
// A key without a value.
export default function () {}
