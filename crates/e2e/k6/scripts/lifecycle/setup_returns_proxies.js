// What stands for data, such as a shared array, is an empty object in the data of setup.
import { SharedArray } from 'k6/data';
const shared = new SharedArray('rows', () => [{ id: 1 }, { id: 2 }]);
export function setup() { return { shared, own: new Proxy({ a: 1 }, {}), first: shared[0] }; }
export default function (data) { console.log(JSON.stringify(data)); }
