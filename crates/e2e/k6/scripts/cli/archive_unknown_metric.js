//@ command: archive
//@ args: -O {TMP}/a.tar
//@ plain
// No archive is made of thresholds that cannot be held.
export const options = { thresholds: { nope: ['count>1'] } };
export default function () {}
