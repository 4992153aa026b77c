// A bundle copies the descriptors of the global object, as it does where core-js is in it.
const seen = (name) => {
  const { get, set, enumerable, configurable } = Object.getOwnPropertyDescriptor(globalThis, name);
  return [typeof get, typeof set, enumerable, configurable].join();
};
const copy = {};
for (const name of Object.getOwnPropertyNames(globalThis)) {
  Object.defineProperty(copy, name, { get: () => globalThis[name], enumerable: Object.getOwnPropertyDescriptor(globalThis, name).enumerable });
}
export default function () {
  console.log(seen('module'), seen('exports'), typeof copy.JSON);
  for (const ask of [() => globalThis.module, () => typeof exports, () => copy.module]) {
    try { ask(); } catch (error) { console.log(String(error).slice(0, 60)); }
  }
}
