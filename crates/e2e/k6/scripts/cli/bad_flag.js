//@ args: --no-such-flag
//@ log: none
// A flag that there is not.
export default function () {}
