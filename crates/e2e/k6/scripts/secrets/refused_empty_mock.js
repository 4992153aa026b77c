//@ args: --secret-source mock
//@ log: levels
// A source that is refused.
export default function () {}
