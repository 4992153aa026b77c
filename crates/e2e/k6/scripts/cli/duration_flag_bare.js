//@ args: --duration 10
// A flag needs a unit, where a script's option is milliseconds without one.
export default function () {}
