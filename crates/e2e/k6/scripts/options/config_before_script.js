//@ args: --config {TMP}/none.json
// A config file that cannot be read is told before what the script throws.
export default function () {}
throw new Error('second');
