const native = import.meta.native;

const fail = (name, message) => {
  throw Object.assign(new Error(message), { name });
};

export const atob = (text) =>
  native.atob(String(text)) ?? fail("InvalidCharacterError", "the text is not base64");

export const btoa = (text) =>
  native.btoa(String(text)) ?? fail("InvalidCharacterError", "the text holds a character that is no byte");

export const queueMicrotask = (callback) => {
  if (typeof callback !== "function") throw new TypeError("queueMicrotask's callback isn't a callable function");
  native.enqueue(callback);
};

export const performance = {
  now: native.now,
  timeOrigin: native.timeOrigin(),
};

const ERRORS = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

const cloneError = (value, clone) => {
  const kind = ERRORS[value.name] ?? Error;
  const made = Object.create(kind.prototype);
  for (const name of ["message", "stack", "cause"]) {
    if (!Object.hasOwn(value, name)) continue;
    Object.defineProperty(made, name, { configurable: true, writable: true, value: clone(value[name]) });
  }
  return made;
};

// The kinds that are more than their properties; `undefined` for others.
const cloneKind = (value, clone) => {
  if (value instanceof Boolean || value instanceof Number || value instanceof String) return Object(value.valueOf());
  if (value instanceof Date) return new Date(value.getTime());
  if (value instanceof RegExp) return new RegExp(value.source, value.flags);
  if (value instanceof ArrayBuffer) return value.slice(0);
  if (ArrayBuffer.isView(value)) {
    const length = value instanceof DataView ? value.byteLength : value.length;
    return new value.constructor(clone(value.buffer), value.byteOffset, length);
  }
  return value instanceof Error ? cloneError(value, clone) : undefined;
};

const NOT_CLONED = [Promise, WeakMap, WeakSet];

export const structuredClone = (whole) => {
  const known = new Map();
  const keep = (value, made) => {
    known.set(value, made);
    return made;
  };
  const clone = (value) => {
    if (typeof value === "function" || typeof value === "symbol") {
      fail("DataCloneError", `${String(value)} could not be cloned`);
    }
    if (typeof value !== "object" || value === null) return value;
    if (known.has(value)) return known.get(value);
    if (NOT_CLONED.some((kind) => value instanceof kind)) fail("DataCloneError", "the object could not be cloned");
    const special = cloneKind(value, clone);
    if (special !== undefined) return keep(value, special);
    if (value instanceof Map) {
      const made = keep(value, new Map());
      for (const [key, item] of [...value]) made.set(clone(key), clone(item));
      return made;
    }
    if (value instanceof Set) {
      const made = keep(value, new Set());
      for (const item of [...value]) made.add(clone(item));
      return made;
    }
    const made = keep(value, Array.isArray(value) ? new Array(value.length) : {});
    for (const key of Object.keys(value)) {
      const described = { configurable: true, enumerable: true, writable: true, value: clone(value[key]) };
      Object.defineProperty(made, key, described);
    }
    return made;
  };
  return clone(whole);
};
