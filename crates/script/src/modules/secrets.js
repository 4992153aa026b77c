const { get } = import.meta.native;

const sourceOf = (source) => ({
  async get(name) {
    return get(source, String(name));
  },
});

const secrets = { ...sourceOf("default"), source: (name) => sourceOf(String(name)) };

// What `require` gives is asked for its default by some, and for its functions by others.
Object.defineProperty(secrets, "default", { value: secrets });

export default secrets;
