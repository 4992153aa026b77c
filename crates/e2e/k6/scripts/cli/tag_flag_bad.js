//@ args: --tag novalue
//@ log: levels
// A tag without a value.
export default function () {}
