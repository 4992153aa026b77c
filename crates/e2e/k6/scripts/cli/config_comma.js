//@ config: {"vus": 1,}
//@ args: -c {TMP}/config.json
// A comma too many.
export default function () {}
