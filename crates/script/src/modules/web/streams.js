// Streams of the web, as far as they are read: no byte sources of their own, nothing to write to.

export const promiseOf = () => {
  const settled = {};
  settled.promise = new Promise((resolve, reject) => Object.assign(settled, { resolve, reject }));
  // Whoever wants to know of the failure asks; nobody has to.
  settled.promise.catch(() => {});
  return settled;
};

// The same after it was rejected; one that was settled before gives way to a new one.
export const settledOf = (settled, error) => {
  settled.reject(error);
  const rejected = promiseOf();
  rejected.reject(error);
  return rejected;
};

export const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";

// A method that a source or a sink may have.
export const methodOf = (object, whose, name) => {
  const method = object[name];
  if (method !== undefined && typeof method !== "function") throw new TypeError(`${whose}.[[${name}]] must be a function`);
  return method;
};

// What a queuing strategy says: how much is wanted in the queue, and how large a chunk is.
export const strategyOf = (strategy, usual) => {
  const { highWaterMark: given, size } = strategy ?? {};
  if (size !== undefined && typeof size !== "function") throw new TypeError("size must be a function");
  const highWaterMark = given === undefined ? usual : Number(given);
  if (Number.isNaN(highWaterMark) || highWaterMark < 0) throw new RangeError("highWaterMark must be a non-negative number");
  const sizeOf = (chunk) => {
    const found = size === undefined ? 1 : Number(size(chunk));
    if (Number.isNaN(found) || found < 0 || found === Infinity) throw new RangeError("size must be a finite, non-NaN number");
    return found;
  };
  return { highWaterMark, sizeOf };
};

// Each chunk counts as one.
export class CountQueuingStrategy {
  #highWaterMark;

  constructor(...given) {
    const [init] = given;
    if (given.length !== 1) throw new TypeError("CountQueuingStrategy takes a single argument");
    if (!isObject(init)) throw new TypeError("CountQueuingStrategy argument must be an object");
    if (init.highWaterMark === undefined) throw new TypeError("CountQueuingStrategy argument must have 'highWaterMark' property");
    this.#highWaterMark = Number(init.highWaterMark);
  }

  get highWaterMark() {
    return this.#highWaterMark;
  }

  get size() {
    return () => 1;
  }
}

let read;
let cancel;
let release;
let acquire;
export let isDisturbed;

export class ReadableStreamDefaultReader {
  #stream;
  #closed;

  constructor(...given) {
    if (given.length !== 1) throw new TypeError("ReadableStreamDefaultReader takes a single argument");
    [this.#stream] = given;
    this.#closed = acquire(this.#stream, this);
  }

  get closed() {
    return this.#closed.promise;
  }

  read() {
    if (this.#stream === undefined) return Promise.reject(new TypeError("stream is undefined"));
    return read(this.#stream);
  }

  async cancel(reason) {
    if (this.#stream === undefined) throw new TypeError("stream is undefined");
    return cancel(this.#stream, reason);
  }

  releaseLock() {
    if (this.#stream === undefined) return;
    const state = release(this.#stream);
    this.#closed = settledOf(this.#closed, new TypeError(`stream is ${state === "readable" ? "" : "not "}readable`));
    this.#stream = undefined;
  }
}

export class ReadableStream {
  #source;
  #methods;
  #strategy;
  #queue = [];
  #queuedSize = 0;
  #waiting = [];
  #state = "readable";
  #error;
  #isClosing = false;
  #isDisturbed = false;
  #isStarted = false;
  #isPulling = false;
  #reader;
  #closed = promiseOf();
  #controller;

  constructor(source = {}, strategy = {}) {
    this.#strategy = strategyOf(strategy, 1);
    if (!isObject(source)) throw new TypeError("underlyingSource must be an object");
    if (source.type !== undefined) throw new TypeError("invalid underlying source type");
    this.#source = source;
    this.#methods = Object.fromEntries(["start", "pull", "cancel"].map((name) => [name, methodOf(source, "underlyingSource", name)]));
    this.#controller = this.#makeController();
    const begun = () => {
      this.#isStarted = true;
      this.#pull();
    };
    Promise.resolve(this.#methods.start?.call(source, this.#controller)).then(begun, (error) => this.#fail(error));
  }

  static {
    acquire = (stream, reader) => {
      if (!isObject(stream) || !(#reader in stream)) throw new TypeError("ReadableStreamDefaultReader argument must be a ReadableStream");
      if (stream.locked) throw new TypeError("stream is locked");
      stream.#reader = reader;
      return stream.#closed;
    };
    release = (stream) => {
      stream.#reader = undefined;
      const error = new TypeError("reader released");
      for (const waiting of stream.#waiting.splice(0)) waiting.reject(error);
      if (stream.#state === "readable") stream.#closed = promiseOf();
      return stream.#state;
    };
    read = (stream) => stream.#read();
    cancel = (stream, reason) => stream.#cancel(reason);
    isDisturbed = (stream) => stream.#isDisturbed;
  }

  // A stream of what an iterable gives.
  static from(iterable) {
    const method = iterable[Symbol.asyncIterator] ?? iterable[Symbol.iterator];
    if (typeof method !== "function") throw new TypeError("what is given cannot be iterated");
    const iterator = method.call(iterable);
    return new ReadableStream(
      {
        async pull(controller) {
          const { done, value } = await iterator.next();
          if (done) controller.close();
          else controller.enqueue(await value);
        },
        async cancel(reason) {
          await iterator.return?.(reason);
        },
      },
      { highWaterMark: 0 },
    );
  }

  #makeController() {
    const stream = this;
    return {
      get desiredSize() {
        if (stream.#state === "errored") return null;
        return stream.#state === "closed" ? 0 : stream.#strategy.highWaterMark - stream.#queuedSize;
      },
      enqueue: (chunk) => stream.#enqueue(chunk),
      close: () => stream.#close(),
      error: (error) => stream.#fail(error),
    };
  }

  #enqueue(value) {
    if (this.#state !== "readable" || this.#isClosing) throw new TypeError("cannot close or enqueue");
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) {
      waiting.resolve({ value, done: false });
    } else {
      let size;
      try {
        size = this.#strategy.sizeOf(value);
      } catch (error) {
        this.#fail(error);
        throw error;
      }
      this.#queue.push({ value, size });
      this.#queuedSize += size;
    }
    this.#pull();
  }

  #close() {
    if (this.#state !== "readable" || this.#isClosing) throw new TypeError("cannot close or enqueue");
    this.#isClosing = true;
    if (this.#queue.length === 0) this.#finish();
  }

  #finish() {
    this.#state = "closed";
    for (const waiting of this.#waiting.splice(0)) waiting.resolve({ value: undefined, done: true });
    this.#closed.resolve();
  }

  #fail(error) {
    if (this.#state !== "readable") return;
    this.#state = "errored";
    this.#error = error;
    this.#queue = [];
    for (const waiting of this.#waiting.splice(0)) waiting.reject(error);
    this.#closed.reject(error);
  }

  // Asks the source for more while there is room or somebody waits, once at a time.
  #pull() {
    const isWanted = this.#waiting.length > 0 || this.#controller.desiredSize > 0;
    if (this.#state !== "readable" || this.#isClosing || !this.#isStarted || this.#isPulling || !isWanted) return;
    const { pull } = this.#methods;
    if (pull === undefined) return;
    this.#isPulling = true;
    new Promise((resolve) => resolve(pull.call(this.#source, this.#controller))).then(
      () => {
        this.#isPulling = false;
        this.#pull();
      },
      (error) => this.#fail(error),
    );
  }

  #read() {
    this.#isDisturbed = true;
    const first = this.#queue.shift();
    if (first !== undefined) {
      this.#queuedSize -= first.size;
      if (this.#isClosing && this.#queue.length === 0) this.#finish();
      else this.#pull();
      return Promise.resolve({ value: first.value, done: false });
    }
    if (this.#state === "closed") return Promise.resolve({ value: undefined, done: true });
    if (this.#state === "errored") return Promise.reject(this.#error);
    const waiting = promiseOf();
    this.#waiting.push(waiting);
    this.#pull();
    return waiting.promise;
  }

  async #cancel(reason) {
    this.#isDisturbed = true;
    if (this.#state === "errored") throw this.#error;
    if (this.#state === "closed") return;
    this.#queue = [];
    this.#finish();
    await this.#methods.cancel?.call(this.#source, reason);
  }

  get locked() {
    return this.#reader !== undefined;
  }

  getReader(options) {
    if (options?.mode !== undefined) throw new TypeError("options.mode is not 'byob'");
    return new ReadableStreamDefaultReader(this);
  }

  async cancel(reason) {
    if (this.locked) throw new TypeError("cannot cancel a locked stream");
    return this.#cancel(reason);
  }

  tee() {
    const reader = this.getReader();
    const branches = [];
    const cancelled = [];
    const done = promiseOf();
    const pull = async () => {
      const { value, done: isOver } = await reader.read();
      for (const [at, controller] of branches.entries()) {
        if (cancelled[at] !== undefined) continue;
        if (isOver) controller.close();
        else controller.enqueue(value);
      }
    };
    const branch = (at) =>
      new ReadableStream({
        start(controller) {
          branches[at] = controller;
        },
        pull: () => pull().catch((error) => branches.forEach((controller) => controller.error(error))),
        cancel(reason) {
          cancelled[at] = { reason };
          if (cancelled[0] !== undefined && cancelled[1] !== undefined) {
            done.resolve(reader.cancel(cancelled.map((one) => one.reason)));
          }
          return done.promise;
        },
      }, { highWaterMark: 0 });
    return [branch(0), branch(1)];
  }

  async *values({ preventCancel = false } = {}) {
    const reader = this.getReader();
    let isOver = false;
    try {
      for (;;) {
        const { value, done } = await reader.read();
        isOver = done;
        if (done) return;
        yield value;
      }
    } catch (error) {
      isOver = true;
      throw error;
    } finally {
      if (!isOver && !preventCancel) await reader.cancel();
      reader.releaseLock();
    }
  }

  get [Symbol.toStringTag]() {
    return "ReadableStream";
  }
}

ReadableStream.prototype[Symbol.asyncIterator] = ReadableStream.prototype.values;
