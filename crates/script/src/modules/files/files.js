export const { isInit } = import.meta.native;

const { open: openFile, piece, fault } = import.meta.native;

export const SeekMode = { Start: 0, Current: 1, End: 2 };

const isMissing = (value) => value === undefined || value === null;

const integer = (value, name) => {
  if (isMissing(value)) throw fault("TypeError", `seek() failed; reason: the ${name} argument cannot be null or undefined`);
  if (!Number.isInteger(value)) throw fault("TypeError", `seek() failed; reason: the ${name} argument must be a number`);
  return value;
};

// What is left of a file from its current place, which goes to the end; null for what is no file.
export let rest;

class File {
  #opened;
  #offset = 0;

  constructor(opened) {
    this.path = opened.path;
    this.#opened = opened;
  }

  static {
    rest = (file) => {
      if (typeof file !== "object" || file === null || !(#opened in file)) return null;
      const offset = file.#offset;
      file.#offset = file.#opened.size;
      return { path: file.path, contents: file.#opened.contents, offset };
    };
  }

  async stat() {
    const { name, size } = this.#opened;
    return { name, size };
  }

  async read(into) {
    if (isMissing(into)) throw fault("TypeError", "read() failed; reason: into argument cannot be null or undefined");
    if (into.constructor !== Uint8Array) throw fault("TypeError", "read() failed; reason: into argument must be a Uint8Array");
    const { size, contents } = this.#opened;
    if (this.#offset === size) return null;
    const end = Math.min(this.#offset + into.length, size);
    into.set(new Uint8Array(piece(contents, this.#offset, end)));
    const count = end - this.#offset;
    this.#offset = end;
    return count;
  }

  async seek(offset, whence) {
    const by = integer(offset, "offset");
    const { size } = this.#opened;
    let place;
    switch (integer(whence, "whence")) {
      case SeekMode.Start:
        if (by < 0) throw fault("TypeError", "offset cannot be negative when using SeekModeStart");
        place = by;
        break;
      case SeekMode.Current:
        place = this.#offset + by;
        break;
      case SeekMode.End:
        if (by > 0) throw fault("TypeError", "offset cannot be positive when using SeekModeEnd");
        place = size - 1 + by;
        break;
      default:
        throw fault("TypeError", "seek() failed; reason: the whence argument must be a SeekMode");
    }
    if (place < 0) throw fault("TypeError", "seeking before start of file");
    if (place > size) throw fault("TypeError", "seeking beyond end of file");
    this.#offset = place;
    return place;
  }
}

export async function open(path) {
  if (!isInit()) throw fault("ForbiddenError", "open() failed; reason: opening a file is allowed only in the Init context");
  if (isMissing(path)) throw fault("TypeError", "open() failed; reason: path cannot be null or undefined");
  const text = String(path);
  if (text === "") throw fault("TypeError", "open() failed; reason: path cannot be empty");
  const opened = openFile(text.replace(/^file:\/\//, ""));
  if (opened.contents === undefined) throw fault(opened.fault, opened.message);
  return new File(opened);
}
