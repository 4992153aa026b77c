//@ log: levels
// A threshold that is no list.
export const options = { thresholds: { http_reqs: 'count>5' } };
export default function () {}
