// Thresholds are listed by metric.
export const options = { thresholds: ['count>0'] };
export default function () {}
