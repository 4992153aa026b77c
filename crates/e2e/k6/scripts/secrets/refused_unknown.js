//@ args: --secret-source nope=x
//@ log: levels
// A source that is refused.
export default function () {}
