const { encode, prefix, decoder } = import.meta.native;

const text = (value) => (value === undefined || value === null ? "" : String(value));

export class TextEncoder {
  encode(value) {
    return encode(text(value));
  }

  encodeInto(value, destination) {
    const [read, bytes] = prefix(text(value), destination.length);
    destination.set(bytes);
    return { read, written: bytes.length };
  }
}

const constant = (object, name, value) => Object.defineProperty(object, name, { enumerable: true, value });

constant(TextEncoder.prototype, "encoding", "utf-8");

export class TextDecoder {
  #decode;

  constructor(label, options) {
    const { fatal = false, ignoreBOM = false } = options ?? {};
    const { encoding, decode } = decoder(text(label), Boolean(fatal), Boolean(ignoreBOM));
    this.#decode = decode;
    constant(this, "encoding", encoding);
    constant(this, "fatal", Boolean(fatal));
    constant(this, "ignoreBOM", Boolean(ignoreBOM));
  }

  decode(data, options) {
    return this.#decode(data, Boolean(options?.stream));
  }
}
