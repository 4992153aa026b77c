// Setup may return any JSON.
export function setup() { return [1, 'two', null]; }
export default function (data) { console.log(Array.isArray(data), data); }
