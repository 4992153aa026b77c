const pulled = [];
const numbers = (highWaterMark) =>
  new ReadableStream({
    start() { this.next = 0; },
    pull(controller) {
      pulled.push(this.next);
      if (this.next === 3) return controller.close();
      controller.enqueue(this.next++);
    },
    cancel(reason) { pulled.push(reason); },
  }, { highWaterMark });
same(await all(numbers(0)), [0, 1, 2]);
same(pulled, [0, 1, 2, 3]);
pulled.length = 0;
for await (const number of numbers(0)) { if (number === 1) break; }
same(pulled, [0, 1, undefined]);
const stream = numbers(2);
const reader = stream.getReader();
same(stream.locked, true);
same(await refused(() => stream.getReader()), "TypeError");
same(await reader.read(), { value: 0, done: false });
reader.releaseLock();
same(stream.locked, false);
same(await refused(() => reader.read()), "TypeError");
same(await all(stream), [1, 2]);
same(await stream.getReader().read(), { done: true });
const [left, right] = ReadableStream.from(["a", "b", "c"]).tee();
same(await Promise.all([all(left), all(right)]), [["a", "b", "c"], ["a", "b", "c"]]);
same(await all(ReadableStream.from((async function* () { yield 1; yield 2; })())), [1, 2]);
const broken = new ReadableStream({ pull() { throw new RangeError("no"); } }, { highWaterMark: 0 });
same(await refused(() => all(broken)), "RangeError");
const failing = new ReadableStream({ start: (controller) => controller.error(new SyntaxError("bad")) });
same(await refused(() => failing.getReader().closed), "SyntaxError");
const pushed = new ReadableStream({ start(controller) { controller.enqueue(1); controller.enqueue(2); same(controller.desiredSize, -1); controller.close(); } });
const other = pushed.getReader();
const waits = [other.read(), other.read(), other.read()];
same(await Promise.all(waits), [{ value: 1, done: false }, { value: 2, done: false }, { done: true }]);
await other.closed;
const later = new ReadableStream({ start(controller) { setTimeout(() => { controller.enqueue("x"); controller.close(); }, 5); } });
same(await all(later), ["x"]);
const dropped = numbers(0);
await dropped.cancel("bye");
same(pulled.at(-1), "bye");
same(await all(dropped), [])
