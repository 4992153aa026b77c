// Starts at a rate, the first at once.
export const options = { scenarios: { s: { executor: 'constant-arrival-rate', rate: 10, timeUnit: '1s', duration: '1050ms', preAllocatedVUs: 2 } } };
export default function () {}
