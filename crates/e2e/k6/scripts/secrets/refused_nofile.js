//@ args: --secret-source file=/nonexistent/file
//@ log: levels
// A source that is refused.
export default function () {}
