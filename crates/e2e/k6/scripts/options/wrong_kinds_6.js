// A scenario with a list for its tags.
export const options = { scenarios: { a: { executor: 'constant-vus', duration: '1s', tags: ['a'] } } };
export default function () {}
