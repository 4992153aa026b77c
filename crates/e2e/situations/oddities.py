"""More services as one meets them: `oddities.py --port 8080 KIND key=value …`. Spans are milliseconds, moments (`at`, `until`) are
seconds since the first request. Must not know who asks.
"""

import argparse
import asyncio
import gzip
import itertools
import json
import os
import time
import weakref

from web import Answer, Server

COUNT = itertools.count(1)
FIRST = []


def js(value, status=200, headers=()):
    return Answer(json.dumps(value).encode(), status, "application/json", headers)


def order(**more):
    n = next(COUNT)
    return js({"id": n, "sku": "A-%d" % (n * 7919 % 10007), "qty": n % 9 + 1, **more})


async def nap(ms):
    if ms > 0:
        await asyncio.sleep(ms / 1000)


def since():
    if not FIRST:
        FIRST.append(time.monotonic())
    return time.monotonic() - FIRST[0]


def connpace(o):
    """On each connection one answer per `gap` ms; who asks sooner waits."""
    due = weakref.WeakKeyDictionary()

    async def handle(r):
        # web.py has a task for each connection.
        task, now = asyncio.current_task(), time.monotonic()
        at = max(now, due.get(task, 0))
        due[task] = at + o["gap"] / 1000
        await nap((at - now) * 1000)
        return order()
    return handle


def window(o):
    """`n` answers in each window of `span` ms, 429 until the next one begins."""
    state = [0, 0]

    async def handle(r):
        number = int(since() * 1000 // o["span"])
        if number != state[0]:
            state[:] = number, 0
        state[1] += 1
        if state[1] > o["n"]:
            return js({"error": "quota of this window is used up"}, 429, ["Retry-After: 1"])
        await nap(8)
        return order()
    return handle


def tenant(o):
    """`n` database connections; a query takes `sleep` ms, for the tenant big `slow` ms."""
    room = asyncio.Semaphore(int(o["n"]))

    async def handle(r):
        async with room:
            await nap(o["slow"] if "t=big" in r.path else o["sleep"])
        return order()
    return handle


def lifo(o):
    """`n` at a time of `sleep` ms; of those who wait the last to come is the next."""
    stack, inside = [], [0]

    async def handle(r):
        if inside[0] >= o["n"]:
            turn = asyncio.get_running_loop().create_future()
            stack.append(turn)
            await turn
        else:
            inside[0] += 1
        await nap(o["sleep"])
        if stack:
            stack.pop().set_result(None)
        else:
            inside[0] -= 1
        return order()
    return handle


def rwlock(o):
    """A POST holds the lock alone for `write` ms, GETs share it for `read` ms each; a writer who waits goes first."""
    gate, readers, free = asyncio.Lock(), [0], asyncio.Event()
    free.set()

    async def handle(r):
        if r.method == "POST":
            async with gate:
                await free.wait()
                await nap(o["write"])
            return order()
        async with gate:
            readers[0] += 1
            free.clear()
        await nap(o["read"])
        readers[0] -= 1
        if not readers[0]:
            free.set()
        return order()
    return handle


def poolleak(o):
    """`n` database connections, a query of `sleep` ms; each `every`-th request forgets to give its connection back."""
    room = asyncio.Semaphore(int(o["n"]))

    async def handle(r):
        await room.acquire()
        await nap(o["sleep"])
        answer = order()
        if json.loads(answer.body)["id"] % int(o["every"]):
            room.release()
        return answer
    return handle


def ungzip(o):
    """Unpacks and parses the body (gzip, JSON), in the loop's thread."""
    async def handle(r):
        since()
        return order(rows=len(json.loads(gzip.decompress(r.body))))
    return handle


def queue(o):
    """Accepts (202) into a queue of `size`, from which one worker takes `rate` a second; 503 when it is full."""
    state = [0.0, time.monotonic()]

    async def handle(r):
        now = time.monotonic()
        state[0] = max(0.0, state[0] - (now - state[1]) * o["rate"])
        state[1] = now
        if state[0] >= o["size"]:
            return js({"error": "queue is full"}, 503)
        state[0] += 1
        await nap(4)
        return js({"accepted": next(COUNT)}, 202)
    return handle


def batcher(o):
    """A model takes up to `size` requests at once, `ms` for each batch, one batch after the other; waits `wait` ms for more."""
    waiting, work = [], asyncio.Event()

    async def run():
        while True:
            await work.wait()
            await nap(o["wait"])
            batch = waiting[:int(o["size"])]
            del waiting[:int(o["size"])]
            if not waiting:
                work.clear()
            await nap(o["ms"])
            for turn in batch:
                if not turn.done():
                    turn.set_result(None)

    task = []

    async def handle(r):
        if not task:
            task.append(asyncio.create_task(run()))
        turn = asyncio.get_running_loop().create_future()
        waiting.append(turn)
        work.set()
        await turn
        return order()
    return handle


def login(o):
    """/login is answered `rate` times a second (a burst of as many), 429 beyond; all else takes 6 ms."""
    state = [o["rate"], time.monotonic()]

    async def handle(r):
        if r.path.startswith("/login"):
            now = time.monotonic()
            state[0] = min(o["rate"], state[0] + (now - state[1]) * o["rate"])
            state[1] = now
            if state[0] < 1:
                return js({"error": "too many logins"}, 429, ["Retry-After: 1"])
            state[0] -= 1
            await nap(20)
            return order(token="t0ken")
        await nap(6)
        return order()
    return handle


def scanner(o):
    """One scanner for all bodies, `rate` bytes a second; a body is taken in at once."""
    lock = asyncio.Lock()

    async def handle(r):
        async with lock:
            await nap(len(r.body) / o["rate"] * 1000)
        return order(clean=True)
    return handle


def pages(o):
    """/…?page=N takes N times `ms` (OFFSET reads what it skips)."""
    async def handle(r):
        await nap(o["ms"] * int(r.path.partition("page=")[2] or 1))
        return order()
    return handle


def jobs(o):
    """POST hands in a job for one of `n` workers, `ms` each; GET /jobs/N tells whether it is done. Both take 4 ms."""
    room, done = asyncio.Semaphore(int(o["n"])), {}
    tasks = set()

    async def work(n):
        async with room:
            await nap(o["ms"])
            done[n] = True

    async def handle(r):
        await nap(4)
        if r.method == "POST":
            n = next(COUNT)
            task = asyncio.create_task(work(n))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            return js({"job": n}, 202)
        n = int(r.path.rsplit("/", 1)[1])
        return js({"job": n, "done": n in done})
    return handle


def gpu(o):
    """Streams `tokens` chunks, `gap` ms apart, to `n` at a time; others wait for their first byte."""
    room = asyncio.Semaphore(int(o["n"]))

    async def handle(r):
        await room.acquire()
        n = next(COUNT)
        tokens = [b"data: %07d-%03d\n\n" % (n, i) for i in range(int(o["tokens"]))]
        answer = Answer(b"".join(tokens), kind="text/event-stream", parts=len(tokens), between=o["gap"] / 1000, chunked=True)
        answer.after = room.release
        return answer
    return handle


def headers(o):
    """`n` headers of `size` bytes each on each answer, and four cookies."""
    lines = ["X-Policy-%02d: %s" % (i, "p" * int(o["size"])) for i in range(int(o["n"]))]
    lines += ["Set-Cookie: c%d=%s; Path=/" % (i, "v" * 40) for i in range(4)]

    async def handle(r):
        await nap(10)
        answer = order()
        answer.headers = lines
        return answer
    return handle


def drain(o):
    """From `at` to `until` s each answer is the last on its connection, and says so."""
    async def handle(r):
        await nap(10)
        answer = order()
        if o["at"] <= since() < o["until"]:
            answer.ending = "close"
        return answer
    return handle


def function(o):
    """An instance for each request at a time: one that is there takes `sleep` ms, a new one `cold` ms more."""
    idle = [0]

    async def handle(r):
        if idle[0]:
            idle[0] -= 1
        else:
            await nap(o["cold"])
        await nap(o["sleep"])
        idle[0] += 1
        return order()
    return handle


def cachefill(o):
    """Keeps `kb` of each request until `max` MB are full, and replaces the oldest then."""
    kept, most = [], int(o["max"] * 1024 // o["kb"])

    async def handle(r):
        await nap(8)
        n = next(COUNT)
        page = os.urandom(1024) * int(o["kb"])
        if len(kept) < most:
            kept.append(page)
        else:
            kept[n % most] = page
        return js({"id": n, "kept": len(kept)})
    return handle


def poller(o):
    """A child that never sleeps (it polls a device) and runs when nobody else wants to; answers take `sleep` ms."""
    if os.fork() == 0:
        parent = os.getppid()
        os.nice(19)
        while os.getppid() == parent:
            for _ in range(100000):
                pass
        os._exit(0)

    async def handle(r):
        await nap(o["sleep"])
        return order()
    return handle


def unique(o):
    """POST creates a user (201); a user with this body is there already: 409."""
    seen = set()

    async def handle(r):
        await nap(8)
        if r.body in seen:
            return js({"message": "e-mail is already taken"}, 409)
        seen.add(r.body)
        return js({"user": next(COUNT)}, 201)
    return handle


KINDS = {f.__name__: f for f in (connpace, window, tenant, lifo, rwlock, poolleak, ungzip, queue, batcher, login, scanner, pages, jobs,
                                 gpu, headers, drain, function, cachefill, poller, unique)}


class Fresh(Server):
    async def write_stream(self, writer, answer):
        try:
            await super().write_stream(writer, answer)
        finally:
            after = getattr(answer, "after", None)
            if after:
                after()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("kind")
    parser.add_argument("words", nargs="*")
    asked = parser.parse_args()
    o = {name: float(value) for name, _, value in (word.partition("=") for word in asked.words)}
    Fresh(KINDS[asked.kind](o), asked.port, asked.host).loop()


main()
