// All kept.
export const options = { thresholds: { iterations: ['count==1'], iteration_duration: ['max<60000'], checks: ['rate>0.5'], http_req_duration: ['p(95)<1'] } };
export default function () {}
