//@ args: --summary-mode sometimes --log-output nowhere
// Of two flags that are wrong, the one about the log is told.
export default function () {}
