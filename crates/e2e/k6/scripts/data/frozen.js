// Elements cannot be changed.
import { SharedArray } from 'k6/data';
const list = new SharedArray('list', () => [{ a: { b: 1 } }]);
const tell = (f) => { try { f(); console.log('fine'); } catch (e) { console.log(e.name, e.message); } };
export default function () {
  tell(() => { list[0] = 1; }); tell(() => { list[0].a.b = 2; }); tell(() => { list[0].c = 1; }); tell(() => list.push(1)); tell(() => { list.length = 0; }); tell(() => { delete list[0]; });
  console.log(JSON.stringify(list[0]), Object.isFrozen(list[0]), Object.isFrozen(list[0].a), list[0] === list[0]);
}
