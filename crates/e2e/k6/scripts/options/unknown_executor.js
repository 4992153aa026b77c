// An executor that there is not.
export const options = { scenarios: { a: { executor: 'no-such-executor' } } };
export default function () {}
