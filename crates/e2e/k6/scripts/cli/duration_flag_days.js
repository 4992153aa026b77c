//@ args: --duration 1d
// A flag knows no days, which a script's option does.
export default function () {}
