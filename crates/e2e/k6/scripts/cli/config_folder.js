//@ args: -c {TMP}
// A folder in place of a file.
export default function () {}
