//@ log: levels
// Values that no executor takes.
export const options = { scenarios: { a: { executor: 'constant-vus', vus: -1, duration: '500ms' }, b: { executor: 'constant-arrival-rate', rate: 0, preAllocatedVUs: 0 }, c: { executor: 'ramping-vus', stages: [] } } };
export default function () {}
