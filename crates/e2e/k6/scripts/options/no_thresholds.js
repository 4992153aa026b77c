//@ args: --no-thresholds
// Thresholds can be left out.
export const options = { thresholds: { iterations: ['count>100'] } };
export default function () {}
