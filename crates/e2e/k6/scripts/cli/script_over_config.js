//@ config: {"iterations": 3, "userAgent": "config", "tags": {"from": "config"}}
//@ args: --config {TMP}/config.json
// The script replaces what the file says.
export const options = { iterations: 2, tags: { from: 'script' } };
export default function () {}
