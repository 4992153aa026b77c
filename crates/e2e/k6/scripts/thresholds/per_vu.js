// A tag that k6 keeps no series by is told of, once for each key.
export const options = { thresholds: { 'http_reqs{vu:1}': ['count>=0', 'rate>=0'] } };
export default function () {}
