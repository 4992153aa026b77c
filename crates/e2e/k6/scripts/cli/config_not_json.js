//@ config: {"vus": 1, iterations: 2}
//@ args: -c {TMP}/config.json
// A key without quotes.
export default function () {}
