// An exception in teardown.
export default function () { console.log('iteration'); }
export function teardown() { throw new Error('cannot clean up'); }
