//@ plain
//@ args: --out json={TMP}/out.json.gz --out json={TMP}/plain.json
// Several outputs at once.
export default function () {}
