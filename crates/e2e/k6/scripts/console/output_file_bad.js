//@ args: --console-output {TMP}/none/console.log
// A folder that is not there.
export default function () {}
