import { ReadableStream, isDisturbed } from "loadline:web/streams";
import { AbortController, AbortSignal } from "loadline:web/events";
import { URL, URLSearchParams } from "loadline:web/url";
import { TextDecoder, TextEncoder } from "loadline:web/text-coding";

const { random, now } = import.meta.native;

const encode = (text) => new TextEncoder().encode(text);
const decode = (bytes) => new TextDecoder().decode(bytes);

// Bytes as text of one character each, and back: what `multipart` is looked through as.
const toCharacters = (bytes) => {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return text;
};
const toBytes = (characters) => Uint8Array.from(characters, (c) => c.charCodeAt(0));

const joined = (chunks) => {
  const all = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
};

// A copy of the bytes of a buffer or a view; undefined for anything else.
const copied = (source) => {
  if (source instanceof ArrayBuffer) return new Uint8Array(source.slice(0));
  if (!ArrayBuffer.isView(source)) return undefined;
  return new Uint8Array(source.buffer.slice(source.byteOffset, source.byteOffset + source.byteLength));
};

// What a reader is given at once.
const CHUNK_BYTES = 65536;

const streamOf = (bytes) => {
  let at = 0;
  return new ReadableStream(
    {
      pull(controller) {
        if (at < bytes.length) controller.enqueue(bytes.slice(at, at + CHUNK_BYTES));
        at += CHUNK_BYTES;
        if (at >= bytes.length) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
};

let bytesOf;

export class Blob {
  #bytes;
  #type;

  constructor(parts = [], { type = "", endings = "transparent" } = {}) {
    const chunks = Array.from(parts, (part) => {
      if (part instanceof Blob) return part.#bytes;
      const text = () => (endings === "native" ? String(part).replace(/\r\n?/g, "\n") : String(part));
      return copied(part) ?? encode(text().toWellFormed());
    });
    this.#bytes = joined(chunks);
    this.#type = /[^\x20-\x7e]/.test(type) ? "" : String(type).toLowerCase();
  }

  static {
    bytesOf = (blob) => blob.#bytes;
  }

  get size() {
    return this.#bytes.length;
  }

  get type() {
    return this.#type;
  }

  slice(start, end, type) {
    return new Blob([this.#bytes.slice(start, end)], { type });
  }

  async text() {
    return decode(this.#bytes);
  }

  async arrayBuffer() {
    return this.#bytes.slice().buffer;
  }

  async bytes() {
    return this.#bytes.slice();
  }

  stream() {
    return streamOf(this.#bytes);
  }

  get [Symbol.toStringTag]() {
    return "Blob";
  }
}

export class File extends Blob {
  constructor(parts, name, options = {}) {
    super(parts, options);
    this.name = String(name);
    this.lastModified = Number(options.lastModified ?? now());
  }

  get [Symbol.toStringTag]() {
    return "File";
  }
}

export class FormData {
  #entries = [];

  #entry(name, value, filename) {
    const key = String(name).toWellFormed();
    if (!(value instanceof Blob)) return [key, String(value).toWellFormed()];
    if (value instanceof File && filename === undefined) return [key, value];
    const { type, lastModified } = value;
    return [key, new File([value], filename ?? "blob", { type, lastModified })];
  }

  append(name, value, filename) {
    this.#entries.push(this.#entry(name, value, filename));
  }

  delete(name) {
    this.#entries = this.#entries.filter(([other]) => other !== String(name));
  }

  get(name) {
    return this.#entries.find(([other]) => other === String(name))?.[1] ?? null;
  }

  getAll(name) {
    return this.#entries.filter(([other]) => other === String(name)).map(([, value]) => value);
  }

  has(name) {
    return this.#entries.some(([other]) => other === String(name));
  }

  set(name, value, filename) {
    const entry = this.#entry(name, value, filename);
    const at = this.#entries.findIndex(([other]) => other === entry[0]);
    if (at < 0) return void this.#entries.push(entry);
    this.#entries[at] = entry;
    this.#entries = this.#entries.filter(([other], place) => other !== entry[0] || place === at);
  }

  forEach(visit, self) {
    for (const [name, value] of this) visit.call(self, value, name, this);
  }

  *entries() {
    for (let at = 0; at < this.#entries.length; at += 1) yield [...this.#entries[at]];
  }

  *keys() {
    for (const [name] of this) yield name;
  }

  *values() {
    for (const [, value] of this) yield value;
  }

  get [Symbol.toStringTag]() {
    return "FormData";
  }
}

FormData.prototype[Symbol.iterator] = FormData.prototype.entries;

// RFC 7578, names escaped as HTML has it ("multipart/form-data encoding algorithm").
const multipart = (form) => {
  const boundary = `----loadline${random()}`;
  const escaped = (text) =>
    text.replace(/[\n\r"]/g, (mark) => `%${mark.charCodeAt(0).toString(16).padStart(2, "0").toUpperCase()}`);
  const chunks = [];
  for (const [name, value] of form) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"`;
    if (typeof value === "string") {
      chunks.push(encode(`${head}\r\n\r\n${value.replace(/\r\n|\r|\n/g, "\r\n")}\r\n`));
    } else {
      const type = value.type || "application/octet-stream";
      chunks.push(encode(`${head}; filename="${escaped(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`));
      chunks.push(bytesOf(value), encode("\r\n"));
    }
  }
  chunks.push(encode(`--${boundary}--\r\n`));
  return { bytes: joined(chunks), type: `multipart/form-data; boundary=${boundary}` };
};

const parameter = (text, name) => {
  const [, quoted, bare] = new RegExp(`;\\s*${name}=(?:"([^"]*)"|([^;\\s]*))`, "i").exec(text) ?? [];
  return quoted ?? bare;
};

const unescaped = (text) =>
  decode(toBytes(text.replace(/%0A/g, "\n").replace(/%0D/g, "\r").replace(/%22/g, '"')));

const parsedMultipart = (bytes, boundary) => {
  const form = new FormData();
  const parts = `\r\n${toCharacters(bytes)}`.split(`\r\n--${boundary}`).slice(1);
  if (parts.length === 0) throw new TypeError("the body is no multipart form");
  for (const part of parts) {
    if (part.startsWith("--")) return form;
    const end = part.indexOf("\r\n\r\n");
    if (end < 0) break;
    const fields = new Map(
      part.slice(2, end).split("\r\n").map((line) => [line.split(":", 1)[0].toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
    );
    const disposition = fields.get("content-disposition") ?? "";
    const [name, filename] = [parameter(disposition, "name"), parameter(disposition, "filename")];
    if (name === undefined) break;
    const content = toBytes(part.slice(end + 4));
    const type = fields.get("content-type") ?? "text/plain";
    const value = filename === undefined ? decode(content) : new File([content], unescaped(filename), { type });
    form.append(unescaped(name), value);
  }
  throw new TypeError("the body is no multipart form");
};

const UPPERCASED = /^(delete|get|head|options|post|put)$/i;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/i;

export class Headers {
  #fields = new Map();

  constructor(init) {
    if (init === undefined || init === null) return;
    if (typeof init !== "object") throw new TypeError("headers are an object or pairs");
    const pairs = typeof init[Symbol.iterator] === "function" ? init : Object.entries(init);
    for (const pair of pairs) {
      const [name, value, ...more] = [...pair];
      if (value === undefined || more.length > 0) throw new TypeError("each header must be a name and a value");
      this.append(name, value);
    }
  }

  #key(name) {
    if (!TOKEN.test(String(name))) throw new TypeError(`"${name}" is no name of a header`);
    return String(name).toLowerCase();
  }

  #value(value) {
    const trimmed = String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
    if (/[\0\r\n]/.test(trimmed)) throw new TypeError(`"${trimmed}" is no value of a header`);
    return trimmed;
  }

  append(name, value) {
    const key = this.#key(name);
    this.#fields.set(key, [...(this.#fields.get(key) ?? []), this.#value(value)]);
  }

  delete(name) {
    this.#fields.delete(this.#key(name));
  }

  get(name) {
    return this.#fields.get(this.#key(name))?.join(", ") ?? null;
  }

  getSetCookie() {
    return [...(this.#fields.get("set-cookie") ?? [])];
  }

  has(name) {
    return this.#fields.has(this.#key(name));
  }

  set(name, value) {
    this.#fields.set(this.#key(name), [this.#value(value)]);
  }

  forEach(visit, self) {
    for (const [name, value] of this) visit.call(self, value, name, this);
  }

  *entries() {
    for (const name of [...this.#fields.keys()].sort()) {
      if (name === "set-cookie") yield* this.getSetCookie().map((value) => [name, value]);
      else yield [name, this.get(name)];
    }
  }

  *keys() {
    for (const [name] of this) yield name;
  }

  *values() {
    for (const [, value] of this) yield value;
  }

  get [Symbol.toStringTag]() {
    return "Headers";
  }
}

Headers.prototype[Symbol.iterator] = Headers.prototype.entries;

// The bytes or the stream that a value stands for, and the type that it brings along.
const extracted = (value) => {
  if (value === undefined || value === null) return {};
  if (value instanceof ReadableStream) {
    if (value.locked || isDisturbed(value)) throw new TypeError("the stream was read or is locked");
    return { stream: value };
  }
  if (value instanceof Blob) return { bytes: bytesOf(value), type: value.type || undefined };
  if (value instanceof FormData) return multipart(value);
  if (value instanceof URLSearchParams) {
    return { bytes: encode(value.toString()), type: "application/x-www-form-urlencoded;charset=UTF-8" };
  }
  const bytes = copied(value);
  if (bytes !== undefined) return { bytes };
  return { bytes: encode(String(value).toWellFormed()), type: "text/plain;charset=UTF-8" };
};

let takeBytes;
let twin;

class Body {
  #bytes;
  #stream;
  #isUsed = false;

  constructor({ bytes, stream }) {
    this.#bytes = bytes;
    this.#stream = stream;
  }

  static {
    takeBytes = (body) => body.#take();
    twin = (body) => body.#twin();
  }

  async #take() {
    if (this.bodyUsed || this.#stream?.locked) throw new TypeError("the body was read or is locked");
    this.#isUsed = this.#bytes !== undefined || this.#stream !== undefined;
    if (this.#stream === undefined) return this.#bytes ?? new Uint8Array(0);
    const chunks = [];
    for await (const chunk of this.#stream) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError("a body's stream gives Uint8Array");
      chunks.push(chunk);
    }
    return joined(chunks);
  }

  // A second body of the same content.
  #twin() {
    if (this.bodyUsed || this.#stream?.locked) throw new TypeError("the body was read or is locked");
    if (this.#stream === undefined) return { bytes: this.#bytes };
    const [kept, given] = this.#stream.tee();
    this.#stream = kept;
    return { stream: given };
  }

  get body() {
    if (this.#stream === undefined && this.#bytes !== undefined) this.#stream = streamOf(this.#bytes);
    return this.#stream ?? null;
  }

  get bodyUsed() {
    return this.#isUsed || (this.#stream !== undefined && isDisturbed(this.#stream));
  }

  async text() {
    return decode(await this.#take());
  }

  async json() {
    return JSON.parse(await this.text());
  }

  async bytes() {
    return (await this.#take()).slice();
  }

  async arrayBuffer() {
    return (await this.bytes()).buffer;
  }

  async blob() {
    return new Blob([await this.#take()], { type: this.headers.get("content-type") ?? "" });
  }

  async formData() {
    const type = this.headers.get("content-type") ?? "";
    const bytes = await this.#take();
    if (/^multipart\/form-data/i.test(type)) return parsedMultipart(bytes, parameter(type, "boundary"));
    if (!/^application\/x-www-form-urlencoded/i.test(type)) throw new TypeError("the body is no form");
    const form = new FormData();
    for (const [name, value] of new URLSearchParams(decode(bytes))) form.append(name, value);
    return form;
  }
}

const withType = (headers, type) => {
  if (type !== undefined && !headers.has("content-type")) headers.set("content-type", type);
};

export class Request extends Body {
  #parts;

  constructor(input, init = {}) {
    const from = input instanceof Request ? input : undefined;
    const method = String(init.method ?? from?.method ?? "GET");
    if (!TOKEN.test(method)) throw new TypeError(`"${method}" is no method`);
    const isBare = /^(get|head)$/i.test(method);
    if (isBare && init.body !== undefined && init.body !== null) throw new TypeError("GET and HEAD have no body");
    const own = init.body === undefined ? undefined : extracted(init.body);
    super(own ?? (from === undefined ? {} : twin(from)));
    const headers = new Headers(init.headers ?? from?.headers);
    withType(headers, own?.type);
    const { signal = from?.signal ?? new AbortController().signal } = init;
    if (signal !== null && !(signal instanceof AbortSignal)) throw new TypeError("the signal is no AbortSignal");
    this.#parts = {
      url: from === undefined ? new URL(input).href : from.url,
      method: UPPERCASED.test(method) ? method.toUpperCase() : method,
      headers,
      redirect: init.redirect ?? from?.redirect ?? "follow",
      credentials: init.credentials ?? from?.credentials ?? "same-origin",
      signal: signal ?? new AbortController().signal,
    };
    if (!["follow", "error", "manual"].includes(this.redirect)) throw new TypeError(`redirect is "${this.redirect}"`);
  }

  get url() {
    return this.#parts.url;
  }

  get method() {
    return this.#parts.method;
  }

  get headers() {
    return this.#parts.headers;
  }

  get redirect() {
    return this.#parts.redirect;
  }

  get credentials() {
    return this.#parts.credentials;
  }

  get signal() {
    return this.#parts.signal;
  }

  clone() {
    return new Request(this);
  }

  get [Symbol.toStringTag]() {
    return "Request";
  }
}

const ANSWERED = Symbol("answered");

export class Response extends Body {
  #parts;

  constructor(body = null, init = {}) {
    const own = extracted(body);
    super(own);
    const answered = init[ANSWERED];
    const status = Number(init.status ?? 200);
    if (answered === undefined && (status < 200 || status > 599 || !Number.isInteger(status))) {
      throw new RangeError(`the status ${init.status} is not in 200 to 599`);
    }
    if (body !== null && [101, 103, 204, 205, 304].includes(status)) {
      throw new TypeError(`an answer of status ${status} has no body`);
    }
    const headers = new Headers(init.headers);
    if (answered === undefined) withType(headers, own.type);
    this.#parts = { type: "default", url: "", redirected: false, ...answered, status, headers };
    this.#parts.statusText = String(init.statusText ?? "");
  }

  static error() {
    return new Response(null, { status: 0, [ANSWERED]: { type: "error" } });
  }

  static json(data, init = {}) {
    const text = JSON.stringify(data);
    if (text === undefined) throw new TypeError("the value cannot be said in JSON");
    const headers = new Headers(init.headers);
    withType(headers, "application/json");
    return new Response(text, { ...init, headers });
  }

  static redirect(url, status = 302) {
    if (![301, 302, 303, 307, 308].includes(status)) throw new RangeError(`${status} is no status of a redirect`);
    return new Response(null, { status, headers: { location: new URL(url).href } });
  }

  get type() {
    return this.#parts.type;
  }

  get url() {
    return this.#parts.url;
  }

  get redirected() {
    return this.#parts.redirected;
  }

  get status() {
    return this.#parts.status;
  }

  get statusText() {
    return this.#parts.statusText;
  }

  get ok() {
    return this.status >= 200 && this.status <= 299;
  }

  get headers() {
    return this.#parts.headers;
  }

  clone() {
    const { body, status, statusText, headers, ...answered } = { ...this.#parts, body: twin(this) };
    const copy = new Response(body.stream ?? body.bytes ?? null, { status, statusText, headers, [ANSWERED]: answered });
    return copy;
  }

  get [Symbol.toStringTag]() {
    return "Response";
  }
}

// For `fetch`: the response that an answer is shown as, and the bytes of a request.
export const answered = ({ url, redirected, status, statusText, headers, body }) =>
  new Response(body, { status, statusText, headers, [ANSWERED]: { type: "basic", url, redirected } });

export const bodyOf = async (request) => {
  const bytes = await takeBytes(request);
  return request.bodyUsed ? bytes : undefined;
};
