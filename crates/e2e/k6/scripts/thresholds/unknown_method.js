// A method that the metric has not.
export const options = { thresholds: { http_reqs: ['p(95)<500'] } };
export default function () {}
