// A name that no scenario may have.
export const options = { scenarios: { 'has space': { executor: 'shared-iterations' } } };
export default function () {}
