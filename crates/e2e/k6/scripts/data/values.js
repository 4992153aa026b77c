// Values that JSON has and has not.
import { SharedArray } from 'k6/data';
const list = new SharedArray('list', () => [new Date(0), 1.5, 'é€😀', [1, [2]], { u: undefined, f: null }, true, '']);
export default function () { for (let i = 0; i < list.length; i++) console.log(i, typeof list[i], JSON.stringify(list[i])); }
