// A run that is over before anything looks.
export const options = { thresholds: { iterations: [{ threshold: 'count>5', abortOnFail: true }] } };
export default function () {}
