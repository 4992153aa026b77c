// Shared arrays as scripts see them.

const READ_ONLY = "SharedArray is immutable";

const isElement = (target, key) =>
  typeof key === "string" && String(key >>> 0) === key && key >>> 0 < target.length;

const isIndex = (key) => typeof key === "string" && String(key >>> 0) === key;

const refuse = (verb, key) => {
  throw new TypeError(
    isIndex(key) || key === "length" ? READ_ONLY : `Cannot ${verb} property "${String(key)}" on a dynamic array`,
  );
};

// What all shared arrays do alike; `get` is native, one for each.
const traps = {
  has: (target, key) => isElement(target, key) || Reflect.has(target, key),
  ownKeys: (target) => [...Array.from({ length: target.length }, (_, i) => String(i)), "length"],
  getOwnPropertyDescriptor(target, key) {
    if (!isElement(target, key)) return Reflect.getOwnPropertyDescriptor(target, key);
    return { value: this.get(target, key), writable: true, enumerable: true, configurable: true };
  },
  set: (_, key) => refuse("set", key),
  defineProperty: (_, key) => refuse("define", key),
  deleteProperty(target, key) {
    if (isElement(target, key)) throw new TypeError(READ_ONLY);
    if (key === "length") throw new TypeError('Cannot delete property "length" on a dynamic array');
    return true;
  },
  preventExtensions() {
    throw new TypeError("Cannot make a dynamic object non-extensible");
  },
};

// Even of what is sorted already.
const sort = function (compare) {
  if (compare !== undefined && typeof compare !== "function") {
    throw new TypeError("The comparison function must be either a function or undefined");
  }
  throw new TypeError(READ_ONLY);
};

// An array of `length` elements, which `get` makes when they are looked at.
export function arrayOf({ length, get }) {
  const target = [];
  target.length = length;
  Object.defineProperty(target, "sort", { value: sort, configurable: true });
  return new Proxy(target, Object.assign(Object.create(traps), { get }));
}
