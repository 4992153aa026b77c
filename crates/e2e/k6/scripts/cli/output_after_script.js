//@ args: --out nowhere
// An output that does not exist is told after what the script throws.
export default function () {}
throw new Error('first');
