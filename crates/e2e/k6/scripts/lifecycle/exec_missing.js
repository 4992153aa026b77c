// A scenario whose function is not there.
export const options = { scenarios: { a: { executor: 'shared-iterations', exec: 'nowhere' } } };
export default function () {}
