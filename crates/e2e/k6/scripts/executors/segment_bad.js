//@ args: --execution-segment 2:3
// A segment that is none.
export default function () {}
