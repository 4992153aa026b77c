const { parse, part, changed, parseQuery, formatQuery } = import.meta.native;

const text = (value) => String(value).toWellFormed();

let follow;
let replace;

export class URLSearchParams {
  #pairs;
  // Told of each change; undefined where these belong to no URL.
  #changed;

  constructor(init = "") {
    if (typeof init !== "object" && typeof init !== "function") {
      this.#pairs = parseQuery(text(init).replace(/^\?/, ""));
    } else if (init === null) {
      this.#pairs = [["null", ""]];
    } else if (typeof init[Symbol.iterator] === "function") {
      this.#pairs = [...init].map((pair) => {
        const [name, value, ...more] = [...pair];
        if (value === undefined || more.length > 0) throw new TypeError("each pair must have a name and a value");
        return [text(name), text(value)];
      });
    } else {
      this.#pairs = Object.entries(init).map(([name, value]) => [text(name), text(value)]);
    }
  }

  static {
    follow = (params, changed) => {
      params.#changed = changed;
    };
    replace = (params, query) => {
      params.#pairs = parseQuery(query);
    };
  }

  #set(pairs) {
    this.#pairs = pairs;
    this.#changed?.(this.toString());
  }

  get size() {
    return this.#pairs.length;
  }

  append(name, value) {
    this.#set([...this.#pairs, [text(name), text(value)]]);
  }

  delete(name, value) {
    const isIt = ([other, its]) => other === text(name) && (value === undefined || its === text(value));
    this.#set(this.#pairs.filter((pair) => !isIt(pair)));
  }

  get(name) {
    return this.#pairs.find(([other]) => other === text(name))?.[1] ?? null;
  }

  getAll(name) {
    return this.#pairs.filter(([other]) => other === text(name)).map(([, value]) => value);
  }

  has(name, value) {
    return this.#pairs.some(([other, its]) => other === text(name) && (value === undefined || its === text(value)));
  }

  set(name, value) {
    const first = this.#pairs.findIndex(([other]) => other === text(name));
    if (first < 0) return this.append(name, value);
    const kept = this.#pairs.filter(([other], at) => other !== text(name) || at === first);
    this.#set(kept.map((pair) => (pair[0] === text(name) ? [pair[0], text(value)] : pair)));
  }

  sort() {
    this.#set([...this.#pairs].sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0)));
  }

  forEach(visit, self) {
    for (const [name, value] of this) visit.call(self, value, name, this);
  }

  *entries() {
    for (let at = 0; at < this.#pairs.length; at += 1) yield [...this.#pairs[at]];
  }

  *keys() {
    for (const [name] of this) yield name;
  }

  *values() {
    for (const [, value] of this) yield value;
  }

  toString() {
    return formatQuery(this.#pairs);
  }

  get [Symbol.toStringTag]() {
    return "URLSearchParams";
  }
}

URLSearchParams.prototype[Symbol.iterator] = URLSearchParams.prototype.entries;

const refuse = (url) => {
  throw Object.assign(new TypeError("Invalid URL"), { code: "ERR_INVALID_URL", input: url });
};

const parsed = (url, base) => parse(text(url), base === undefined ? undefined : text(base));

export class URL {
  #href;
  #params;

  constructor(url, base) {
    this.#href = parsed(url, base) ?? refuse(text(url));
  }

  static canParse(url, base) {
    return parsed(url, base) !== undefined;
  }

  static parse(url, base) {
    return URL.canParse(url, base) ? new URL(url, base) : null;
  }

  #change(name, value) {
    this.#href = changed(this.#href, name, text(value));
    if (name === "search" && this.#params !== undefined) replace(this.#params, this.search.slice(1));
  }

  get href() {
    return this.#href;
  }

  set href(value) {
    this.#href = parsed(value) ?? refuse(text(value));
    if (this.#params !== undefined) replace(this.#params, this.search.slice(1));
  }

  get origin() {
    return part(this.#href, "origin");
  }

  get searchParams() {
    if (this.#params === undefined) {
      this.#params = new URLSearchParams(this.search);
      follow(this.#params, (query) => {
        this.#href = changed(this.#href, "search", query);
      });
    }
    return this.#params;
  }

  static {
    for (const name of [
      "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash",
    ]) {
      Object.defineProperty(URL.prototype, name, {
        get() {
          return part(this.#href, name);
        },
        set(value) {
          this.#change(name, value);
        },
        configurable: true,
        enumerable: true,
      });
    }
  }

  toString() {
    return this.#href;
  }

  toJSON() {
    return this.#href;
  }

  get [Symbol.toStringTag]() {
    return "URL";
  }
}
