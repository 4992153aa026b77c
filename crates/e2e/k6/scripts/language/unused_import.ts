// A file that is JavaScript as well keeps its imports, used or not.
import { unused } from './side/effect.ts';
export default function () {
  console.log(globalThis.seen);
}
