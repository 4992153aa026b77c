//@ plain
//@ args: --out csv={TMP}/out.csv
//@ head: out.csv
// The header of the other output.
export default function () {}
