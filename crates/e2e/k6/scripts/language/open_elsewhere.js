// A path that a module of another folder opens is not relative to that module: the first init says so.
import { read } from './lib/opens.js';
const path = import.meta.resolve('./open_elsewhere.js');
const text = read('./open_elsewhere.js') + read('lib/opens.js') + read(path);
export const options = { vus: 2, iterations: 2 };
export default function () {}
export function teardown() { console.log(text.length > 0); }
