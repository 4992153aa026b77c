// A metric that there is not.
export const options = { thresholds: { nothing_like_it: ['count>0'] } };
export default function () {}
