//@ args: --type archive
// What is said to be an archive must be one.
export default function () {}
