// Options of a wrong kind: a threshold.
export const options = { thresholds: { a: 5 } };
export default function () {}
