// A rejection in an async function that is not awaited.
async function broken() { await null; throw new TypeError('lost'); }
export default function () { broken(); console.log('end'); }
