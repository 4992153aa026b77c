//@ log: levels
// What is no JSON cannot be handed on.
export function setup() { return { f() {} }; }
export default function () { console.log('never'); }
