// Every stage of a run can write.
export const options = { iterations: 1 };
console.log('init', __VU);
export function setup() { console.log('setup', __VU); return { n: 1 }; }
export default function (data) { console.log('iteration', __VU, __ITER, data); }
export function teardown(data) { console.log('teardown', __VU, data); }
export function handleSummary(data) { console.log('summary', __VU, typeof data); return {}; }
