// An exception in setup ends the run.
export function setup() { throw new Error('no data'); }
export default function () { console.log('never'); }
export function teardown() { console.log('never'); }
export function handleSummary(data) { return { stdout: `summary without ${Object.keys(data.metrics).length === 0}\n` }; }
