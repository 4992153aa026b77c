//@ args: --summary-mode poetry
//@ log: levels
// A summary that there is not.
export default function () {}
