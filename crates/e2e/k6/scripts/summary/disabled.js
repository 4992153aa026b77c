//@ args: --summary-mode disabled
//@ stdout
// None.
export default function () {}
