//@ args: --execution-segment 1/2:1/4
// A segment ends after its start.
export default function () {}
