// Streams of the web that are written to, after https://streams.spec.whatwg.org/#ws.
import { isObject, methodOf, promiseOf, settledOf, strategyOf } from "loadline:web/streams";

const CLOSE = Symbol("close");

let acquire;
let release;
let inspect;

const letGo = () => new TypeError("stream is undefined");

export class WritableStreamDefaultWriter {
  #stream;
  #closed;
  #ready;

  constructor(...given) {
    if (given.length !== 1) throw new TypeError("WritableStreamDefaultWriter takes a single argument");
    const [stream] = given;
    acquire(stream, this, (closed, ready) => {
      this.#closed = closed ?? this.#closed;
      this.#ready = ready ?? this.#ready;
    });
    this.#stream = stream;
  }

  get closed() {
    return this.#closed.promise;
  }

  get ready() {
    return this.#ready.promise;
  }

  get desiredSize() {
    if (this.#stream === undefined) throw letGo();
    return inspect(this.#stream).desiredSize();
  }

  async write(chunk) {
    if (this.#stream === undefined) throw letGo();
    return inspect(this.#stream).write(chunk, () => this.#stream === undefined);
  }

  async close() {
    if (this.#stream === undefined) throw letGo();
    return inspect(this.#stream).close();
  }

  async abort(reason) {
    if (this.#stream === undefined) throw letGo();
    return inspect(this.#stream).abort(reason);
  }

  releaseLock() {
    if (this.#stream === undefined) return;
    release(this.#stream);
    const error = new TypeError("writer released");
    this.#closed = settledOf(this.#closed, error);
    this.#ready = settledOf(this.#ready, error);
    this.#stream = undefined;
  }
}

export class WritableStream {
  #sink;
  #methods;
  #strategy;
  #state = "writable";
  #error;
  #queue = [];
  #queuedSize = 0;
  #isStarted = false;
  // What the sink is at: a write or the close, with the promise of whoever asked for it.
  #underWay;
  #closing;
  #aborting;
  #isFull = false;
  #writer;
  // Tells the writer of new promises.
  #tellWriter;
  #closed = promiseOf();
  #ready = promiseOf();

  constructor(sink = {}, strategy = {}) {
    if (!isObject(sink)) throw new TypeError("underlyingSink must be an object");
    this.#strategy = strategyOf(strategy, 1);
    if (sink.type !== undefined) throw new RangeError("'type' is not supported by WritableStream");
    this.#sink = sink;
    this.#methods = Object.fromEntries(["start", "write", "close", "abort"].map((name) => [name, methodOf(sink, "underlyingSink", name)]));
    this.#updateReady();
    const started = this.#methods.start?.call(sink, this.#controller);
    Promise.resolve(started).then(
      () => {
        this.#isStarted = true;
        this.#advance();
      },
      (error) => {
        this.#isStarted = true;
        this.#fail(error);
        this.#advance();
      },
    );
  }

  static {
    acquire = (stream, writer, tell) => {
      if (!isObject(stream) || !(#writer in stream)) throw new TypeError("WritableStreamDefaultWriter argument must be a WritableStream");
      if (stream.locked) throw new TypeError("stream is locked");
      stream.#writer = writer;
      stream.#tellWriter = tell;
      tell(stream.#closed, stream.#ready);
    };
    release = (stream) => {
      stream.#writer = undefined;
      stream.#tellWriter = undefined;
      // The next writer has promises of its own.
      if (stream.#state === "writable" || stream.#state === "erroring") {
        stream.#closed = promiseOf();
        const isWaiting = stream.#isFull && stream.#state === "writable";
        stream.#ready = promiseOf();
        if (stream.#state === "erroring") stream.#ready.reject(stream.#error);
        else if (!isWaiting) stream.#ready.resolve();
      }
    };
    inspect = (stream) => ({
      desiredSize: () => stream.#desiredSize(),
      write: (chunk, isReleased) => stream.#write(chunk, isReleased),
      close: () => stream.#close(),
      abort: (reason) => stream.#abort(reason),
    });
  }

  get locked() {
    return this.#writer !== undefined;
  }

  getWriter() {
    return new WritableStreamDefaultWriter(this);
  }

  async close() {
    if (this.locked) throw new TypeError("cannot close a locked stream");
    return this.#close();
  }

  async abort(reason) {
    if (this.locked) throw new TypeError("cannot abort a locked stream");
    return this.#abort(reason);
  }

  #controller = {
    error: (error) => {
      if (this.#state === "writable") this.#beginError(error);
    },
  };

  #desiredSize() {
    if (this.#state === "errored" || this.#state === "erroring") return null;
    return this.#state === "closed" ? 0 : this.#strategy.highWaterMark - this.#queuedSize;
  }

  #write(chunk, isReleased) {
    let size = 1;
    try {
      size = this.#strategy.sizeOf(chunk);
    } catch (error) {
      if (this.#state === "writable") this.#beginError(error);
    }
    if (isReleased()) return Promise.reject(new TypeError("writer was released"));
    if (this.#state === "errored" || this.#state === "erroring") return Promise.reject(this.#error);
    if (this.#state === "closed" || this.#closing !== undefined) return Promise.reject(new TypeError("stream is closing or closed"));
    const asked = promiseOf();
    this.#queue.push({ chunk, size, asked });
    this.#queuedSize += size;
    this.#updateReady();
    this.#advance();
    return asked.promise;
  }

  #close() {
    if (this.#state === "closed" || this.#state === "errored") return Promise.reject(new TypeError("stream is already closed or errored"));
    if (this.#closing !== undefined) return Promise.reject(new TypeError("stream is already closing"));
    this.#closing = promiseOf();
    if (this.#isFull && this.#state === "writable") this.#ready.resolve();
    this.#queue.push({ chunk: CLOSE, size: 0, asked: this.#closing });
    this.#advance();
    return this.#closing.promise;
  }

  #abort(reason) {
    if (this.#state === "closed" || this.#state === "errored") return Promise.resolve();
    if (this.#aborting !== undefined) return this.#aborting.promise;
    const wasErroring = this.#state === "erroring";
    this.#aborting = { ...promiseOf(), reason: wasErroring ? undefined : reason, wasErroring };
    if (!wasErroring) this.#beginError(reason);
    return this.#aborting.promise;
  }

  #beginError(error) {
    this.#state = "erroring";
    this.#error = error;
    this.#ready = settledOf(this.#ready, error);
    this.#tellWriter?.(undefined, this.#ready);
    if (this.#underWay === undefined && this.#isStarted) this.#finishError();
  }

  #finishError() {
    this.#state = "errored";
    for (const { chunk, asked } of this.#queue.splice(0)) if (chunk !== CLOSE) asked.reject(this.#error);
    this.#queuedSize = 0;
    const aborting = this.#aborting;
    if (aborting === undefined) return this.#rejectClosed();
    this.#aborting = undefined;
    if (aborting.wasErroring) {
      aborting.reject(this.#error);
      return this.#rejectClosed();
    }
    const ended = new Promise((resolve) => resolve(this.#methods.abort?.call(this.#sink, aborting.reason)));
    ended.then(
      () => {
        aborting.resolve();
        this.#rejectClosed();
      },
      (error) => {
        aborting.reject(error);
        this.#rejectClosed();
      },
    );
  }

  #rejectClosed() {
    this.#closing?.reject(this.#error);
    this.#closed.reject(this.#error);
  }

  // A write or a close of the sink failed, or its start.
  #fail(error) {
    if (this.#state === "writable") this.#beginError(error);
    else if (this.#state === "erroring" && this.#underWay === undefined) this.#finishError();
  }

  // Hands the sink the next of what waits, one at a time.
  #advance() {
    if (!this.#isStarted || this.#underWay !== undefined) return;
    if (this.#state === "erroring") return this.#finishError();
    const next = this.#queue[0];
    if (next === undefined || this.#state !== "writable") return;
    this.#underWay = next;
    const { write, close } = this.#methods;
    const method = next.chunk === CLOSE ? () => close?.call(this.#sink) : () => write?.call(this.#sink, next.chunk, this.#controller);
    new Promise((resolve) => resolve(method())).then(
      () => this.#ended(next),
      (error) => {
        this.#underWay = undefined;
        this.#shift();
        next.asked.reject(error);
        if (next.chunk === CLOSE) {
          this.#aborting?.reject(error);
          this.#aborting = undefined;
        }
        this.#fail(error);
      },
    );
  }

  #ended(done) {
    this.#underWay = undefined;
    this.#shift();
    done.asked.resolve();
    if (done.chunk === CLOSE) {
      this.#aborting?.resolve();
      this.#aborting = undefined;
      this.#state = "closed";
      this.#closed.resolve();
      return;
    }
    if (this.#state === "writable") this.#updateReady();
    this.#advance();
  }

  #shift() {
    this.#queuedSize = Math.max(0, this.#queuedSize - (this.#queue.shift()?.size ?? 0));
  }

  #updateReady() {
    if (this.#closing !== undefined || this.#state !== "writable") return;
    const isFull = this.#desiredSize() <= 0;
    if (!isFull) this.#ready.resolve();
    else if (!this.#isFull) {
      this.#ready = promiseOf();
      this.#tellWriter?.(undefined, this.#ready);
    }
    this.#isFull = isFull;
  }

  get [Symbol.toStringTag]() {
    return "WritableStream";
  }
}
