// Less than a second.
export const options = { scenarios: { a: { executor: 'shared-iterations', maxDuration: '500ms' } } };
export default function () {}
