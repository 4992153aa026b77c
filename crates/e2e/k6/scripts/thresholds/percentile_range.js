// A percentile beyond a hundred.
export const options = { thresholds: { http_req_duration: ['p(101)<500'] } };
export default function () {}
