const native = import.meta.native;

const readers = (names, read) => {
  const object = {};
  for (const name of names) {
    Object.defineProperty(object, name, { enumerable: true, get: () => read(name) });
  }
  return object;
};

export const instance = readers(
  ["currentTestRunDuration", "iterationsCompleted", "iterationsInterrupted", "vusActive", "vusInitialized"],
  native.instance,
);

export const scenario = readers(
  ["name", "executor", "startTime", "progress", "iterationInInstance", "iterationInTest"],
  native.scenario,
);

// A live view of what lies behind `all`, `put` and `remove`; no value is kept here.
const view = ({ all, put, remove }) =>
  new Proxy({}, {
    get(target, name) {
      const items = all();
      return Object.hasOwn(items, name) ? items[name] : target[name];
    },
    set(_, name, value) {
      put(String(name), value);
      return true;
    },
    has: (target, name) => name in all() || name in target,
    deleteProperty(_, name) {
      remove(String(name));
      return true;
    },
    defineProperty(_, name, { value }) {
      put(String(name), value);
      return true;
    },
    ownKeys: () => Object.keys(all()),
    getOwnPropertyDescriptor: (_, name) => Object.getOwnPropertyDescriptor(all(), name),
  });

const tags = view(native.tags);
const metrics = Object.defineProperties({}, {
  tags: { enumerable: true, value: tags },
  metadata: { enumerable: true, value: view(native.metadata) },
});

export const vu = Object.defineProperties(
  readers(["idInInstance", "idInTest", "iterationInInstance", "iterationInScenario"], native.vu),
  {
    tags: { enumerable: true, configurable: true, get: () => native.inVu() && tags, set() {} },
    metrics: { enumerable: true, configurable: true, get: () => native.inVu() && metrics, set() {} },
  },
);

const freeze = (value) => {
  if (typeof value === "object" && value !== null) {
    Object.values(value).forEach(freeze);
    Object.freeze(value);
  }
  return value;
};

export const test = Object.defineProperties({}, {
  options: { enumerable: true, get: () => freeze(native.options()) },
  abort: { enumerable: true, value: native.abort },
  fail: { enumerable: true, value: native.fail },
});

// Each area is refused as a whole where nothing of it is known.
export default Object.defineProperties({}, {
  instance: { enumerable: true, get: () => native.inInstance() && instance },
  scenario: { enumerable: true, get: () => native.inScenario() && scenario },
  test: { enumerable: true, value: test },
  vu: { enumerable: true, get: () => native.inVu() && vu },
});
