// A threshold that is no list.
export const options = { iterations: 1, thresholds: { http_req_duration: 'p(95)<200' } };
export default function () {}
