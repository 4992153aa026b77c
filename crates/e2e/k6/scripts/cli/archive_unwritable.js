//@ command: archive
//@ args: -O {TMP}/none/a.tar
// A folder that is not there.
export default function () {}
