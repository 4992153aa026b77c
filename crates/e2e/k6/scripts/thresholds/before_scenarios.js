// Thresholds are read before scenarios are judged.
export const options = {
  thresholds: { http_req_duration: ['p95<200'] },
  scenarios: { a: { executor: 'shared-iterations', exec: 'missing' } },
};
export default function () {}
