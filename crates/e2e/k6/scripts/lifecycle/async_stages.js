// Async functions are awaited in every stage.
const wait = (v) => new Promise((resolve) => setTimeout(() => resolve(v), 10));
export async function setup() { return { v: await wait('set up') }; }
export default async function (data) { console.log(await wait(data.v)); }
export async function teardown(data) { console.log(await wait('torn down'), data.v); }
export async function handleSummary() { return { stdout: await wait('summed up\n') }; }
