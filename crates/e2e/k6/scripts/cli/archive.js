//@ before: archive -O {TMP}/a.tar -e WHO=archive {SCRIPT}
//@ operand: {TMP}/a.tar
// An archive runs like its script, with its modules, files and variables.
import { unit } from '../language/lib/unit.js';
const users = JSON.parse(open('../language/lib/users.json'));
export const options = { iterations: 2, tags: { t: 'archived' } };
export default function () { console.log(unit, users.length, __ENV.WHO); }
