"""Services as one meets them: `stage4.py --port 8080 KIND key=value …`. Spans are milliseconds, moments (`at`, `until`) are
seconds since the first request. Must not know who asks.
"""

import argparse
import asyncio
import gzip
import json
import random
import socket
import time

from web import Answer, Server


def js(value, status=200, headers=()):
    return Answer(json.dumps(value).encode(), status, "application/json", headers)


def burn(ms):
    until = time.thread_time() + ms / 1000
    while time.thread_time() < until:
        pass


async def nap(ms):
    if ms > 0:
        await asyncio.sleep(ms / 1000)


class Clock:
    first = None

    def touch(self):
        if self.first is None:
            self.first = time.monotonic()

    def since(self):
        return 0.0 if self.first is None else time.monotonic() - self.first


CLOCK = Clock()
COUNT = [0]
BESIDE = []


def span(o):
    if "med" in o:
        return o["med"] * random.lognormvariate(0, o.get("sigma", 0.4))
    if "low" in o:
        return random.uniform(o["low"], o["high"])
    return o.get("sleep", 5)


def order(n):
    return js({"id": n, "sku": "A-%d" % (n * 7919 % 10007), "qty": n % 9 + 1})


def plain(o):
    """A service of its own pace; each `every`-th answer is `status`; `pool` at a time; `cpu` besides."""
    room = asyncio.Semaphore(int(o["pool"])) if "pool" in o else None

    async def work():
        await nap(span(o))
        if "cpu" in o:
            burn(o["cpu"])

    async def handle(r):
        COUNT[0] += 1
        n = COUNT[0]
        if room:
            async with room:
                await work()
        else:
            await work()
        if "every" in o and n % int(o["every"]) == 0:
            return Answer(b"oops", int(o["status"]))
        if "body" in o:
            return Answer(b"%08d" % n + b"x" * (int(o["body"]) - 8))
        return order(n)
    return handle


def userquota(o):
    """Each user (header X-User) may make `rate` requests a second."""
    buckets = {}

    async def handle(r):
        user, now = r.headers.get("x-user", "?"), time.monotonic()
        tokens, at = buckets.get(user, (o["rate"], now))
        tokens = min(o["rate"], tokens + (now - at) * o["rate"])
        if tokens < 1:
            buckets[user] = (tokens, now)
            return js({"error": "quota exceeded", "user": user}, 429, ["Retry-After: 1"])
        buckets[user] = (tokens - 1, now)
        await nap(10)
        COUNT[0] += 1
        return order(COUNT[0])
    return handle


def breaker(o):
    """A backend that fails for `bad` s of each `cycle` s; a circuit breaker opens for `open` s after 8 failures in a row."""
    state = {"fails": 0, "until": 0.0}

    async def handle(r):
        now = time.monotonic()
        if now < state["until"]:
            return js({"message": "circuit open"}, 503)
        phase = CLOCK.since() % o["cycle"]
        if o["cycle"] - o["bad"] <= phase:
            await nap(60)
            state["fails"] += 1
            if state["fails"] >= 8:
                state["until"] = time.monotonic() + o["open"]
                state["fails"] = 0
            return js({"message": "backend"}, 500)
        await nap(15)
        state["fails"] = 0
        COUNT[0] += 1
        return order(COUNT[0])
    return handle


def workers(o):
    """`n` workers of `sleep` ms, `queue` places to wait, 503 beyond."""
    room, inside = asyncio.Semaphore(int(o["n"])), [0]

    async def handle(r):
        if inside[0] >= o["n"] + o["queue"]:
            return js({"message": "rejected by executor"}, 503)
        inside[0] += 1
        try:
            async with room:
                await nap(o["sleep"])
        finally:
            inside[0] -= 1
        COUNT[0] += 1
        return order(COUNT[0])
    return handle


def dbpool(o):
    """`n` connections, a query of `sleep` ms; who waits for a connection longer than `wait` ms gets a 500."""
    room = asyncio.Semaphore(int(o["n"]))

    async def handle(r):
        try:
            await asyncio.wait_for(room.acquire(), o["wait"] / 1000)
        except asyncio.TimeoutError:
            return js({"message": "timeout acquiring a connection from the pool"}, 500)
        try:
            await nap(o["sleep"])
        finally:
            room.release()
        COUNT[0] += 1
        return order(COUNT[0])
    return handle


def one_at_a_time(o, key_of):
    """A lock for each key, held for `sleep` ms."""
    locks = {}

    async def handle(r):
        async with locks.setdefault(key_of(r), asyncio.Lock()):
            await nap(o["sleep"])
        COUNT[0] += 1
        return order(COUNT[0])
    return handle


def keylock(o):
    """A row lock for each path."""
    return one_at_a_time(o, lambda r: r.path)


def session(o):
    """One request at a time for each session (header X-User)."""
    return one_at_a_time(o, lambda r: r.headers.get("x-user"))


def flusher(o):
    """Writes go to a buffer of `n`; when it is full all wait until it is flushed, for `sleep` ms."""
    lock, held = asyncio.Lock(), [0]

    async def handle(r):
        async with lock:
            held[0] += 1
            if held[0] >= o["n"]:
                await nap(o["sleep"])
                held[0] = 0
        await nap(2)
        COUNT[0] += 1
        return js({"accepted": COUNT[0]}, 201)
    return handle


def tick(o):
    """Group commit: an answer comes at the next tick of `every` ms."""
    async def handle(r):
        left = o["every"] - (time.monotonic() * 1000) % o["every"]
        await nap(left)
        COUNT[0] += 1
        return js({"committed": COUNT[0]})
    return handle


def cron(o):
    """A job of the service's own computes `busy` ms each `every` ms; nothing else runs meanwhile."""
    async def job():
        while True:
            await nap(o["every"] - o["busy"])
            burn(o["busy"])
    BESIDE.append(job)
    return plain(o)


def gc(o):
    """Collections each `every` ms that take `grow` ms more each time, from the first request on."""
    async def job():
        pause = 0
        while True:
            await nap(o["every"])
            if CLOCK.first:
                pause += o["grow"]
                time.sleep(pause / 1000)
    BESIDE.append(job)
    return plain(o)


def stall(o):
    """Once, `at` s after the first request, everything stands for `ms`."""
    async def job():
        while CLOCK.since() < o["at"]:
            await nap(20)
        time.sleep(o["ms"] / 1000)
    BESIDE.append(job)
    return plain(o)


def jit(o):
    """An answer takes `from` ms at first, and approaches `to` within some `tau` s."""
    async def handle(r):
        share = 2.718281828 ** (-CLOCK.since() / o["tau"])
        await nap(o["to"] + (o["from"] - o["to"]) * share)
        COUNT[0] += 1
        return order(COUNT[0])
    return handle


def gz(o):
    """A page of `size` bytes, compressed on the fly."""
    rows = [{"id": i, "name": "item %d" % random.randrange(10 ** 9), "price": random.random()} for i in range(int(o["size"]) // 60)]
    page = json.dumps(rows).encode()

    async def handle(r):
        if "gzip" in r.headers.get("accept-encoding", ""):
            return Answer(gzip.compress(page, 9), 200, "application/json", ["Content-Encoding: gzip", "Vary: Accept-Encoding"])
        return Answer(page, kind="application/json")
    return handle


def badgzip(o):
    """Says that it is gzip; a `share` of answers is not (a proxy stripped it)."""
    async def handle(r):
        await nap(8)
        COUNT[0] += 1
        body = json.dumps({"id": COUNT[0], "items": list(range(40))}).encode()
        sent = body if random.random() < o["share"] else gzip.compress(body)
        return Answer(sent, 200, "application/json", ["Content-Encoding: gzip"])
    return handle


def token(o):
    """The token of the request is valid until `until` s."""
    async def handle(r):
        if CLOCK.since() > o["until"]:
            return js({"message": "token expired"}, 401, ['WWW-Authenticate: Bearer error="invalid_token"'])
        await nap(span(o))
        COUNT[0] += 1
        return order(COUNT[0])
    return handle


def switch(o):
    """From `at` s on a new feature holds one lock for `lock` ms."""
    lock = asyncio.Lock()

    async def handle(r):
        if CLOCK.since() > o["at"]:
            async with lock:
                await nap(o["lock"])
        await nap(span(o))
        COUNT[0] += 1
        return order(COUNT[0])
    return handle


def deadlock(o):
    """A `share` of answers is a 500 after `ms`: the transaction was rolled back."""
    async def handle(r):
        if random.random() < o["share"]:
            await nap(o["ms"])
            return js({"message": "deadlock detected"}, 500)
        await nap(span(o))
        COUNT[0] += 1
        return order(COUNT[0])
    return handle


def fdleak(o):
    """Each request leaks a descriptor; after `after` of them all answers are 500."""
    async def handle(r):
        COUNT[0] += 1
        if COUNT[0] > o["after"]:
            return js({"message": "too many open files"}, 500)
        await nap(span(o))
        return order(COUNT[0])
    return handle


def diskfull(o):
    """POST is answered 507 from `at` s on; GET is fine."""
    async def handle(r):
        await nap(span(o))
        if r.method == "POST" and CLOCK.since() > o["at"]:
            return js({"message": "no space left on device"}, 507)
        COUNT[0] += 1
        return order(COUNT[0])
    return handle


def canary(o):
    """A `share` of requests goes to version v2, which takes `slow` ms."""
    async def handle(r):
        new = random.random() < o["share"]
        await nap(o["slow"] if new else o["sleep"])
        COUNT[0] += 1
        answer = order(COUNT[0])
        answer.headers = ["X-Version: " + ("v2" if new else "v1")]
        return answer
    return handle


def etag(o):
    """What has not changed is a 304."""
    async def handle(r):
        await nap(span(o))
        if r.headers.get("if-none-match") == '"v17"':
            return Answer(b"", 304, headers=['ETag: "v17"'])
        return Answer(b"y" * 4000, headers=['ETag: "v17"'])
    return handle


def strict(o):
    """An API that wants what it wants: /items by GET, /orders by POST of JSON with `sku`; /admin with a token; /checkout with
    X-CSRF; user names that end in 3 or 7 are locked; a host that is named `api.shop.test` if `host` is given."""
    async def handle(r):
        await nap(span(o))
        COUNT[0] += 1
        if "host" in o and r.headers.get("host", "").split(":")[0] != "api.shop.test":
            return js({"message": "no such site"}, 404)
        if r.path.startswith("/items"):
            return order(COUNT[0]) if r.method == "GET" else js({"message": "use GET"}, 405, ["Allow: GET"])
        if r.path.startswith("/orders"):
            if r.method != "POST":
                return js({"message": "use POST"}, 405, ["Allow: POST"])
            if "json" not in r.headers.get("content-type", ""):
                return js({"message": "application/json only"}, 415)
            try:
                json.loads(r.body)["sku"]
            except (ValueError, KeyError, TypeError):
                return js({"message": "body: expected an object with sku"}, 400)
            return js({"order": COUNT[0]}, 201)
        if r.path.startswith("/write"):
            if r.headers.get("authorization") != "Bearer t0ken":
                return js({"message": "who are you?"}, 401)
            return js({"written": COUNT[0]}, 201)
        if r.path.startswith("/checkout"):
            if "x-csrf" not in r.headers:
                return js({"message": "CSRF token missing"}, 403)
            return js({"paid": COUNT[0]}, 201)
        if r.path.startswith("/account"):
            if r.headers.get("x-user", "0")[-1] in "37":
                return js({"message": "account locked"}, 403)
            return js({"account": COUNT[0]})
        if r.path.startswith("/login"):
            return js({"token": "t0ken"})
        return js({"message": "not found"}, 404)
    return handle


def sse(o):
    """Events: `n` of them, `gap` ms from one to the next."""
    async def handle(r):
        events = [b"data: %02d\n\n" % i for i in range(int(o["n"]))]
        return Answer(b"".join(events), kind="text/event-stream", parts=len(events), between=o["gap"] / 1000, chunked=True)
    return handle


KINDS = {f.__name__: f for f in (plain, userquota, breaker, workers, dbpool, keylock, session, flusher, tick, cron, gc, stall, jit, gz,
                                 badgzip, token, switch, deadlock, fdleak, diskfull, canary, etag, strict, sse)}


class Service(Server):
    """A server of one kind, which may read slowly or take few connections."""

    def __init__(self, asked, o):
        super().__init__(KINDS[asked.kind](o), asked.port, asked.host)
        self.asked = asked
        self.idle = asked.idle / 1000 or None
        self.limit = 16384 if asked.read_rate else self.limit
        self.open = 0
        self.read_free = 0.0

    def socket(self):
        listening = super().socket()
        if self.asked.read_rate and not self.asked.natural_buffer:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
        return listening

    async def serve_stream(self, reader, writer):
        self.open += 1
        try:
            await super().serve_stream(reader, writer)
        finally:
            self.open -= 1

    async def read_body(self, reader, request):
        CLOCK.touch()
        rate = self.asked.read_rate
        if not rate:
            await super().read_body(reader, request)
            return
        left = request.body_bytes
        while left:
            piece = await reader.read(min(left, 8192))
            if not piece:
                raise asyncio.IncompleteReadError(b"", left)
            left -= len(piece)
            if self.asked.read_shared:
                self.read_free = max(self.read_free, time.monotonic()) + len(piece) / rate
                await nap((self.read_free - time.monotonic()) * 1000)
            else:
                await asyncio.sleep(len(piece) / rate)

    async def answer(self, request):
        if self.asked.max_connections and self.open > self.asked.max_connections:
            return Answer(b"too many connections", 503, ending="close")
        return await super().answer(request)

    async def leave(self, reader):
        if self.asked.lazy_close:
            await asyncio.wait_for(reader.read(), 2)


def main():
    parser = argparse.ArgumentParser()
    say = parser.add_argument
    say("--port", type=int, required=True)
    say("--host", default="127.0.0.1")
    say("--idle", type=float, default=0, help="a connection that is silent so long is closed")
    say("--max-connections", type=int, default=0, help="503 and close beyond")
    say("--read-rate", type=float, default=0, help="bytes per second of a request's body")
    say("--natural-buffer", action="store_true", help="with --read-rate: the kernel's own receive buffer")
    say("--read-shared", action="store_true", help="for all connections together")
    say("--lazy-close", action="store_true", help="the client closes first, for at most 2 s")
    say("kind")
    say("words", nargs="*")
    asked = parser.parse_args()
    o = {name: float(value) for name, _, value in (word.partition("=") for word in asked.words)}
    Service(asked, o).loop(BESIDE)


main()
