// What no shared array is made of.
import { SharedArray } from 'k6/data';
for (const f of [() => new SharedArray('a', () => 5), () => new SharedArray('b', () => ({ 0: 1 })), () => new SharedArray('', () => []), () => new SharedArray('c'), () => new SharedArray('d', 'text'), () => new SharedArray('e', () => { throw new Error('inside'); }), () => new SharedArray()]) { try { console.log(f().length); } catch (e) { console.log(e.message); } }
export default function () {}
