//@ args: --execution-segment 2:3
//@ log: levels
// A segment that is none.
export default function () {}
