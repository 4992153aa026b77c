// Walking over a shared array.
import { SharedArray } from 'k6/data';
const list = new SharedArray('list', () => [1, 2, { a: 3 }]);
export default function () {
  let seen = ''; for (const v of list) seen += JSON.stringify(v);
  console.log(seen, list.map((v) => typeof v).join(), list.filter((v) => v > 1).length, list.indexOf(2), list.find((v) => v.a).a, JSON.stringify(list.slice(1)), list.includes(1), [...list].length, Object.keys(list).join());
  console.log(JSON.stringify(list), list.concat([9]).length, list.some((v) => v === 2), list.reduce((n) => n + 1, 0));
  list.forEach((v, i) => { if (i === 0) console.log('first', v); });
}
