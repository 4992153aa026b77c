//@ args: --stage 5s:3 --stage :3
// A stage of a flag needs its duration.
export default function () {}
