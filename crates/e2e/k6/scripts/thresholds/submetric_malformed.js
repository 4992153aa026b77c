// A part of a metric that cannot be read.
export const options = { thresholds: { 'http_reqs{status': ['count>0'] } };
export default function () {}
