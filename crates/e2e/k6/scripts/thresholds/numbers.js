// Numbers of every form, and blanks.
export const options = { thresholds: { iterations: ['count>-1', 'count<1e3', 'count >= 1.0', ' count<=1 ', 'count!=2'] } };
export default function () {}
