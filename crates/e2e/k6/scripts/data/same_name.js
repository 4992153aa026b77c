// One name, one array.
import { SharedArray } from 'k6/data';
const one = new SharedArray('same', () => [1]); const two = new SharedArray('same', () => [2, 3]);
export default function () { console.log(one.length, two.length, two[0]); }
