//@ before: archive -O {TMP}/a.tar {SCRIPT}
//@ command: inspect
//@ operand: {TMP}/a.tar
//@ stdout: exact
// An archive can be looked at.
export const options = { vus: 2, duration: '5s' };
export default function () {}
