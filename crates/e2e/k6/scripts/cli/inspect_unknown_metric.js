//@ command: inspect
//@ args: --execution-requirements
//@ plain
// What a run would refuse of thresholds, the requirements refuse too.
export const options = { thresholds: { nope: ['count>1'] } };
export default function () {}
