//@ args: --config {TMP}/none.json
// A config file that cannot be read is told after imports that cannot be found.
import './no_such_file.js';
export default function () {}
