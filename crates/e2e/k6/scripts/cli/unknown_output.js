//@ args: --out no-such-output
//@ log: levels
// An output that there is not.
export default function () {}
