//@ env: WHO=process
//@ before: archive -O {TMP}/a.tar -e WHO=archive -e WHERE=archive -e WHEN=archive {SCRIPT}
//@ operand: {TMP}/a.tar
//@ args: -e WHEN=flag
// Variables of the process replace what an archive holds, and flags both.
export default function () { console.log(__ENV.WHO, __ENV.WHERE, __ENV.WHEN); }
