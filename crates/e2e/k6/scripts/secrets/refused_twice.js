//@ args: --secret-source mock=a=1 --secret-source mock=b=2
//@ log: levels
// A source that is refused.
export default function () {}
