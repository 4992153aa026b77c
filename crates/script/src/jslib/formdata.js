// formdata: bodies of type multipart/form-data, in the order in which their fields were added.

function bytesOf(value) {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (Array.isArray(value)) return Uint8Array.from(value);
  return new Uint8Array(new TextEncoder().encode(String(value)));
}

function quoted(name) {
  return String(name).replace(/\r?\n|\r/g, '%0D%0A').replace(/"/g, '%22');
}

export class FormData {
  constructor() {
    this.parts = [];
    let random = '';
    while (random.length < 24) random += Math.floor(Math.random() * 36).toString(36);
    this.boundary = `------FormDataBoundary${random}`;
  }

  /** Adds a field: a value, a value with a file name, or what `http.file()` gives. */
  append(name, value, filename) {
    const isFile = value !== null && typeof value === 'object' && 'data' in value;
    this.parts.push({
      name,
      data: isFile ? value.data : value,
      filename: filename ?? (isFile ? value.filename : undefined),
      type: isFile ? value.content_type ?? value.contentType : undefined,
    });
  }

  /** The body, as an ArrayBuffer. */
  body() {
    const chunks = [];
    const text = (line) => chunks.push(bytesOf(line));
    for (const part of this.parts) {
      const file = part.filename === undefined ? '' : `; filename="${quoted(part.filename)}"`;
      text(`--${this.boundary}\r\nContent-Disposition: form-data; name="${quoted(part.name)}"${file}\r\n`);
      const usual = file ? 'application/octet-stream' : typeof part.data === 'string' ? 'text/plain' : undefined;
      const type = part.type ?? usual;
      text(type ? `Content-Type: ${type}\r\n\r\n` : '\r\n');
      chunks.push(bytesOf(part.data));
      text('\r\n');
    }
    text(`--${this.boundary}--\r\n`);
    const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
    let at = 0;
    for (const chunk of chunks) {
      whole.set(chunk, at);
      at += chunk.length;
    }
    return whole.buffer;
  }
}

export default FormData;
