// A number that is none.
export const options = { thresholds: { http_reqs: ['count>many'] } };
export default function () {}
