//@ args: --no-setup --no-teardown
// Neither setup nor teardown.
export function setup() { console.log('never'); return 1; }
export default function (data) { console.log('data', data); }
export function teardown() { console.log('never'); }
