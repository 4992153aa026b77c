//@ before: archive -O {TMP}/a.tar -e WHO=archive --iterations 5 {SCRIPT}
//@ operand: {TMP}/a.tar
//@ args: -e WHO=flag --iterations 1
// Flags replace what an archive holds.
export default function () { console.log(__ENV.WHO); }
