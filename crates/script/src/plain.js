// What small scripts run in: objects that are lent, and Java's methods of texts. Gives the function that runs a script.
(function (has, call) {
  "use strict";

  const KNOWN_MAX = 256;
  const known = new Map();
  const proxies = new Map();
  // Values that a script gave an object to keep, which are not texts.
  const kept = new Map();

  const capital = (name) => name.charAt(0).toUpperCase() + name.slice(1);
  const answer = (value) => (value !== null && typeof value === "object" && "lent" in value ? lent(value.lent) : value);

  function keeping(object, method) {
    switch (method) {
      case "putObject":
        return (name, value) => {
          kept.delete(name);
          if (value === null || value === undefined || typeof value === "string") {
            call(object, "put", String(name), value);
          } else {
            call(object, "remove", String(name));
            kept.set(String(name), value);
          }
        };
      case "getObject":
        return (name) => (kept.has(String(name)) ? kept.get(String(name)) : call(object, "get", String(name)));
      case "put":
        return (name, value) => {
          kept.delete(String(name));
          call(object, "put", String(name), value);
        };
      case "remove":
        return (name) => {
          const value = kept.get(String(name));
          return kept.delete(String(name)) ? value : call(object, "remove", String(name));
        };
    }
    return undefined;
  }

  function lent(object) {
    let proxy = proxies.get(object);
    if (proxy !== undefined) {
      return proxy;
    }
    const methods = new Map();
    const method = (name) => {
      let made = methods.get(name);
      if (made === undefined) {
        const keeps = has(object, "putObject") ? keeping(object, name) : undefined;
        made = keeps || ((...given) => answer(call(object, name, ...given)));
        methods.set(name, made);
      }
      return made;
    };
    proxy = new Proxy(Object.create(null), {
      get(_, name) {
        if (name === Symbol.toPrimitive) {
          return () => call(object, "toString");
        }
        if (typeof name !== "string") {
          return undefined;
        }
        if (has(object, name)) {
          return method(name);
        }
        for (const prefix of ["get", "is"]) {
          if (has(object, prefix + capital(name))) {
            return method(prefix + capital(name))();
          }
        }
        return undefined;
      },
      set(_, name, value) {
        const setter = "set" + capital(String(name));
        if (!has(object, setter)) {
          throw new TypeError(`there is no ${String(name)} to be set in ${object}`);
        }
        method(setter)(value);
        return true;
      },
    });
    proxies.set(object, proxy);
    return proxy;
  }

  function extend(prototype, methods) {
    for (const name of Object.keys(methods)) {
      Object.defineProperty(prototype, name, { value: methods[name], writable: true, configurable: true });
    }
  }
  const text = (value) => String.prototype.valueOf.call(value);
  extend(String.prototype, {
    equals(other) { return typeof other === "string" && text(this) === other; },
    equalsIgnoreCase(other) { return typeof other === "string" && text(this).toLowerCase() === other.toLowerCase(); },
    contains(other) { return text(this).includes(String(other)); },
    isEmpty() { return text(this).length === 0; },
    matches(pattern) { return new RegExp(`^(?:${pattern})$`).test(text(this)); },
    compareTo(other) { return text(this) < other ? -1 : text(this) > other ? 1 : 0; },
    replaceFirst(pattern, by) { return text(this).replace(new RegExp(pattern), by); },
    hashCode() {
      let hash = 0;
      for (let at = 0; at < text(this).length; at += 1) {
        hash = (Math.imul(hash, 31) + text(this).charCodeAt(at)) | 0;
      }
      return hash;
    },
  });
  extend(Number.prototype, {
    intValue() { return Math.trunc(this); },
    longValue() { return Math.trunc(this); },
    doubleValue() { return Number(this); },
    equals(other) { return Number(this) === other; },
  });
  extend(Boolean.prototype, {
    booleanValue() { return this.valueOf(); },
    equals(other) { return this.valueOf() === other; },
  });

  // As Rhino has it, digits behind a zero are octal.
  const parsed = globalThis.parseInt;
  extend(globalThis, {
    parseInt(value, radix) {
      const octal = radix === undefined ? /^\s*([+-]?)0([0-9][^]*)$/.exec(String(value)) : null;
      return octal === null ? parsed(value, radix) : parsed(octal[1] + octal[2], 8);
    },
  });

  // A text's length is asked for in Java's way, too. Texts and comments in a script are left as they are.
  const LENGTH = /"(?:\\[^]|[^"\\])*"|'(?:\\[^]|[^'\\])*'|\/\/[^\n]*|\/\*[^]*?\*\/|\.length\s*\(\s*\)/g;
  const asScript = (source) => source.replace(LENGTH, (found) => (found.startsWith(".length") ? ".length" : found));

  function make(written, names, wantsValue) {
    const source = asScript(written);
    if (!wantsValue) {
      return new Function(...names, source);
    }
    const expression = source.trim().replace(/;$/, "");
    if (!/^(?:\{|function\b|class\b)/.test(expression)) {
      try {
        return new Function(...names, `return (${expression}\n)`);
      } catch {
        // It is more than an expression, or malformed, which is told below.
      }
    }
    return new Function(...names, `return eval(${JSON.stringify(source)})`);
  }

  let own;

  function run(source, names, values, wantsValue) {
    const key = `${names.join()}${wantsValue ? "=" : ":"}${source}`;
    let made = known.get(key);
    if (made === undefined) {
      made = make(source, names, wantsValue);
      if (known.size >= KNOWN_MAX) {
        known.clear();
      }
      known.set(key, made);
    }
    try {
      return made.apply(globalThis, values.map(answer));
    } finally {
      for (const name of Object.keys(globalThis)) {
        if (!own.has(name)) {
          delete globalThis[name];
        }
      }
    }
  }

  own = new Set(Object.keys(globalThis));
  return run;
})
