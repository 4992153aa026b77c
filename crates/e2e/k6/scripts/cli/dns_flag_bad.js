//@ args: --dns ttl=-1s
// A time before now.
export default function () {}
