// Scenarios one after the other.
export const options = { scenarios: { second: { executor: 'shared-iterations', startTime: '400ms', exec: 'two' }, first: { executor: 'shared-iterations', exec: 'one' } } };
export function one() { console.log('one'); }
export function two() { console.log('two'); }
