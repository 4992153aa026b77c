//@ args: --vus 3
// Virtual users alone: an iteration for each.
export default function () {}
