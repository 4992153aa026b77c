//@ log: levels
// The executor that is controlled from outside is gone from the second version.
export const options = { scenarios: { a: { executor: 'externally-controlled', vus: 1, maxVUs: 2, duration: '1s' } } };
export default function () {}
