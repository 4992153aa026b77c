const native = import.meta.native;

const freeze = (value) => {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.values(value).forEach(freeze);
    Object.freeze(value);
  }
  return value;
};

const READ_ONLY = "SharedArray is immutable";

const handler = {
  get(target, key) {
    if (typeof key === "string") {
      const index = Number(key);
      if (Number.isInteger(index) && index >= 0) {
        return index < target.shared.length ? freeze(target.shared.get(index)) : undefined;
      }
      if (key === "length") return target.shared.length;
    }
    if (key === Symbol.iterator) {
      return function* () {
        for (let i = 0; i < target.shared.length; i += 1) yield freeze(target.shared.get(i));
      };
    }
    return Array.prototype[key];
  },
  has(target, key) {
    const index = typeof key === "string" ? Number(key) : NaN;
    return Number.isInteger(index) ? index >= 0 && index < target.shared.length : key === "length" || key in Array.prototype;
  },
  ownKeys(target) {
    return [...Array.from({ length: target.shared.length }, (_, i) => String(i)), "length"];
  },
  getOwnPropertyDescriptor(target, key) {
    if (key === "length") return { value: target.shared.length, writable: true, enumerable: false, configurable: false };
    const index = typeof key === "string" ? Number(key) : NaN;
    if (!Number.isInteger(index) || index < 0 || index >= target.shared.length) return undefined;
    return { value: freeze(target.shared.get(index)), writable: true, enumerable: true, configurable: true };
  },
  set() {
    throw new TypeError(READ_ONLY);
  },
  deleteProperty() {
    throw new TypeError(READ_ONLY);
  },
  defineProperty() {
    throw new TypeError(READ_ONLY);
  },
};

export class SharedArray {
  constructor(name, make) {
    const target = [];
    target.shared = native.open(String(name), make);
    return new Proxy(target, handler);
  }
}

export default { SharedArray };
