const { get } = import.meta.native;

const sourceOf = (source) => ({
  async get(name) {
    return get(source, String(name));
  },
});

export default { ...sourceOf("default"), source: (name) => sourceOf(String(name)) };
