//@ args: --secret-source mock=value
//@ log: levels
// A source that is refused.
export default function () {}
