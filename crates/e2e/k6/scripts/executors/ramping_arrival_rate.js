// A rate that grows: starts when the area under it is whole.
export const options = { scenarios: { s: { executor: 'ramping-arrival-rate', startRate: 0, timeUnit: '1s', preAllocatedVUs: 3, stages: [{ duration: '1s', target: 8 }, { duration: '550ms', target: 8 }] } } };
export default function () {}
