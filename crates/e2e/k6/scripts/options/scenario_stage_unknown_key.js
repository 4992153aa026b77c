// A stage of a scenario has no other keys.
export const options = { scenarios: { s: { executor: 'ramping-vus', stages: [{ duration: '1s', target: 1, foo: 2 }] } } };
export default function () {}
