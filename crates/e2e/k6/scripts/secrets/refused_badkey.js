//@ args: --secret-source file=other=1
//@ log: levels
// A source that is refused.
export default function () {}
