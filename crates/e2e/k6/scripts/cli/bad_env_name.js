//@ args: -e 1bad=x
//@ log: levels
// A name that no variable has.
export default function () {}
