// Without a setup, or with one that returns nothing, there is no data.
export function setup() {}
export default function (data) { console.log(data === undefined, typeof data); }
export function teardown(data) { console.log(typeof data); }
