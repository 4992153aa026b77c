//@ config: {"iterations": 3, "tags": {"from": "config"}}
//@ args: --config {TMP}/config.json
// A file of options.
export default function () {}
