import { arrayOf } from "loadline:shared-array";

const { open } = import.meta.native;

// As in k6, `new` may be left out, and the result is an array that is no instance of this.
export function SharedArray(name, make) {
  return arrayOf(open(name === undefined ? "undefined" : String(name), make));
}

export default { SharedArray };
