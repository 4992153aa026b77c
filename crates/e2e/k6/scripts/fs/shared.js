//@ log: sorted
// Each virtual user has its own place in a file.
import { open } from 'k6/experimental/fs';
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2, iterations: 2 } } };
const file = await open('./files/digits.txt');
export default async function () { const buffer = new Uint8Array(3); console.log(__VU, __ITER, await file.read(buffer), String.fromCharCode(...buffer)); }
