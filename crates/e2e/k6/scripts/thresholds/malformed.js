// Text that is no threshold.
export const options = { thresholds: { http_reqs: ['count >>> 5'] } };
export default function () {}
