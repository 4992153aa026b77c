//@ operand: {TMP}/no_such_script.js
//@ log: levels
// A script that is not there.
export default function () {}
