const { now } = import.meta.native;

// What the web calls a DOMException, as far as scripts look at it.
export const fault = (name, message) =>
  Object.defineProperty(new Error(message), "name", { value: name, writable: true, configurable: true });

let send;
let isStopped;

export class Event {
  #type;
  #cancelable;
  #target = null;
  #isPrevented = false;
  #isStopped = false;
  timeStamp = now();

  constructor(type, { bubbles = false, cancelable = false } = {}) {
    this.#type = String(type);
    this.#cancelable = Boolean(cancelable);
    this.bubbles = Boolean(bubbles);
  }

  static {
    send = (event, target) => {
      event.#target = target;
      event.#isStopped = false;
    };
    isStopped = (event) => event.#isStopped;
  }

  get type() {
    return this.#type;
  }

  get cancelable() {
    return this.#cancelable;
  }

  get target() {
    return this.#target;
  }

  get currentTarget() {
    return this.#target;
  }

  get defaultPrevented() {
    return this.#isPrevented;
  }

  preventDefault() {
    this.#isPrevented ||= this.#cancelable;
  }

  // There is nothing around a target to travel to.
  stopPropagation() {}

  stopImmediatePropagation() {
    this.#isStopped = true;
  }
}

export class EventTarget {
  #listeners = new Map();

  addEventListener(type, callback, options = {}) {
    if (callback === null || callback === undefined) return;
    const { once = false, signal } = typeof options === "object" && options !== null ? options : {};
    if (signal?.aborted) return;
    const listeners = this.#listeners.get(type) ?? [];
    if (listeners.some((listener) => listener.callback === callback)) return;
    this.#listeners.set(type, [...listeners, { callback, once }]);
    signal?.addEventListener("abort", () => this.removeEventListener(type, callback), { once: true });
  }

  removeEventListener(type, callback) {
    const kept = (this.#listeners.get(type) ?? []).filter((listener) => listener.callback !== callback);
    this.#listeners.set(type, kept);
  }

  // All listeners are called; the first error of one is thrown afterwards.
  dispatchEvent(event) {
    send(event, this);
    const errors = [];
    const handler = this[`on${event.type}`];
    const own = typeof handler === "function" ? [{ callback: handler }] : [];
    for (const { callback, once } of [...own, ...(this.#listeners.get(event.type) ?? [])]) {
      if (once) this.removeEventListener(event.type, callback);
      try {
        if (typeof callback === "function") callback.call(this, event);
        else callback.handleEvent(event);
      } catch (error) {
        errors.push(error);
      }
      if (isStopped(event)) break;
    }
    if (errors.length > 0) throw errors[0];
    return !event.defaultPrevented;
  }
}

const TOKEN = Symbol("internal");

let abort;
export let watch;
export let remainingMs;

export class AbortSignal extends EventTarget {
  #isAborted = false;
  #reason;
  // When it aborts by itself, on the run's clock.
  #deadline = Infinity;
  #timer;
  #handler = null;
  #watchers = new Set();

  constructor(token) {
    super();
    if (token !== TOKEN) throw new TypeError("Illegal constructor");
  }

  static {
    abort = (signal, reason) => signal.#abort(reason);
    // Calls a function with the reason when the signal aborts; gives what takes that back.
    watch = (signal, react) => {
      signal.#watchers.add(react);
      return () => signal.#watchers.delete(react);
    };
    // Milliseconds until the signal aborts by itself.
    remainingMs = (signal) => Math.max(signal.#deadline - now(), 0);
  }

  static abort(reason) {
    const signal = new AbortSignal(TOKEN);
    signal.#abort(reason);
    return signal;
  }

  // Such a signal looks at the clock; it sets a timer only for those who listen, so that one which
  // nobody waits for does not keep the iteration waiting.
  static timeout(milliseconds) {
    const signal = new AbortSignal(TOKEN);
    signal.#deadline = now() + Number(milliseconds);
    return signal;
  }

  static any(signals) {
    const signal = new AbortSignal(TOKEN);
    for (const source of signals) {
      if (source.aborted) {
        signal.#abort(source.reason);
        break;
      }
      signal.#deadline = Math.min(signal.#deadline, source.#deadline);
      watch(source, (reason) => signal.#abort(reason));
    }
    return signal;
  }

  #abort(reason = fault("AbortError", "This operation was aborted")) {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    clearTimeout(this.#timer);
    const watchers = [...this.#watchers];
    this.#watchers.clear();
    for (const react of watchers) react(reason);
    this.dispatchEvent(new Event("abort"));
  }

  #expire() {
    if (!this.#isAborted && now() >= this.#deadline) {
      this.#abort(fault("TimeoutError", "The operation was aborted due to timeout"));
    }
  }

  #setTimer() {
    if (this.#timer === undefined && !this.#isAborted && this.#deadline < Infinity) {
      this.#timer = setTimeout(() => this.#expire(), remainingMs(this));
    }
  }

  get aborted() {
    this.#expire();
    return this.#isAborted;
  }

  get reason() {
    this.#expire();
    return this.#reason;
  }

  get onabort() {
    return this.#handler;
  }

  set onabort(handler) {
    this.#handler = typeof handler === "function" ? handler : null;
    if (this.#handler !== null) this.#setTimer();
  }

  addEventListener(type, callback, options) {
    super.addEventListener(type, callback, options);
    if (type === "abort") this.#setTimer();
  }

  throwIfAborted() {
    if (this.aborted) throw this.#reason;
  }
}

export class AbortController {
  #signal = new AbortSignal(TOKEN);

  get signal() {
    return this.#signal;
  }

  abort(reason) {
    abort(this.#signal, reason);
  }
}
