//@ log: levels
// Module code that throws in a virtual user: neither setup() nor teardown() runs.
export const options = { vus: 2, iterations: 2 };
if (__VU === 2) throw new Error('in its init');
export function setup() { console.log('set up'); return 1; }
export default function () { console.log('never'); }
export function teardown() { console.log('torn down'); }
export function handleSummary() { return {}; }
