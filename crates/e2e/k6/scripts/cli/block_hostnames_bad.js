//@ args: --block-hostnames a_b
// What no host can be called is no pattern.
export default function () {}
