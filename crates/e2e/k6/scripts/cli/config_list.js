//@ config: [1]
//@ args: -c {TMP}/config.json
// No object.
export default function () {}
