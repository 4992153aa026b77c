//@ config: {"tags": ["a"]}
//@ args: -c {TMP}/config.json
// A list in place of an object.
export default function () {}
