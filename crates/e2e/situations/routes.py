"""A server with a behaviour for each path: `routes.py --port 8080 --route '/slow sleep=300 pool=4' --route '/ sleep=5'`.

Must not know who asks. A request is answered by the longest route that its path begins with; spans are milliseconds unless
the option says seconds. `/state` tells how many requests have a place in a pool, and how large the largest pool is.

What a route knows: `sleep`, `exp` (a sleep by chance with this mean), `mode=MS:SHARE`, `cpu`, `pool` (requests at a time),
`status`, `fail=STATUS:SHARE`, `to` (a redirect), `body` (bytes), `json`, `kind` (content type), `errevery` and `errshare`
(answers that hold an error), `parts` and `between` (a stream), `half` (share of answers that stop in the middle) and
`then=close`.
"""

import argparse
import asyncio
import json
import random
import socket
import time

ERROR = b'{"error":"backend timed out"}'


def options():
    parser = argparse.ArgumentParser()
    say = parser.add_argument
    say("--port", type=int, required=True)
    say("--host", default="127.0.0.1")
    say("--route", action="append", default=[])
    say("--silent-from", type=float, default=0, help="seconds from the first request; nothing is answered from then on")
    say("--grow", type=float, default=0, help="added to each sleep for each second since the first request")
    say("--step", default="", help="SECONDS:FACTOR, by which sleeps are longer from then on")
    say("--pauses", default="", help="EVERY_MS:MS,MS,MS, all stand still")
    say("--close-after", type=int, default=0, help="answers on a connection, which is closed without a word then")
    say("--backlog", type=int, default=4096)
    return parser.parse_args()


class Route:
    def __init__(self, text):
        self.path, *words = text.split()
        self.says = dict(word.partition("=")[::2] for word in words)
        self.asked = 0
        self.size = int(self.says.get("pool", 0))
        self.pool = asyncio.Semaphore(self.size) if self.size else None
        self.used = 0

    def number(self, name):
        return float(self.says.get(name, 0))

    def share(self, name):
        """Whether one of a share is due, and what stands before it."""
        what, _, share = self.says.get(name, ":0").partition(":")
        return what if random.random() < float(share) else None


class Served:
    def __init__(self, asked):
        self.asked = asked
        self.routes = sorted(map(Route, asked.route or ["/"]), key=lambda route: -len(route.path))
        self.first = None

    def state(self):
        pooled = [route for route in self.routes if route.pool]
        used, sizes = sum(route.used for route in pooled), [route.size for route in pooled]
        return answered(200, "application/json", json.dumps({"used": used, "size": max(sizes, default=0)}).encode())

    async def work(self, route):
        since = time.monotonic() - self.first
        span = random.expovariate(1 / route.number("exp")) if "exp" in route.says else route.number("sleep")
        span += float(route.share("mode") or 0)
        if self.asked.step:
            at, factor = map(float, self.asked.step.split(":"))
            span *= factor if since > at else 1
        span += self.asked.grow * since
        if span:
            await asyncio.sleep(span / 1000)
        until = time.thread_time() + route.number("cpu") / 1000
        while time.thread_time() < until:
            pass

    async def in_turn(self, route):
        if not route.pool:
            return await self.work(route)
        async with route.pool:
            route.used += 1
            try:
                await self.work(route)
            finally:
                route.used -= 1

    async def answer(self, path, writer):
        """Answers one request; whether the connection goes on."""
        if path == "/state":
            writer.write(self.state())
            return True
        self.first = self.first or time.monotonic()
        if self.asked.silent_from and time.monotonic() - self.first > self.asked.silent_from:
            await asyncio.sleep(3600)
        route = next((route for route in self.routes if path.startswith(route.path)), Route("/"))
        route.asked += 1
        number = route.asked
        await self.in_turn(route)
        return await self.send(route, number, writer)

    async def send(self, route, number, writer):
        says = route.says
        status, kind, body = int(says.get("status", 200)), says.get("kind", "text/plain"), b"x" * int(says.get("body", 2))
        if "json" in says:
            kind, body = "application/json", json.dumps({"id": number, "name": "drill"}).encode()
        failed = route.share("fail")
        if failed:
            status, body = int(failed), b"failed"
        every = int(route.number("errevery"))
        if every and number % every == 0 or random.random() < route.number("errshare"):
            body = ERROR
        if "to" in says:
            writer.write(answered(302, kind, b"", f"Location: {says['to']}\r\n"))
        elif "parts" in says:
            await stream(writer, kind, body, int(says["parts"]), route.number("between"))
        elif random.random() < route.number("half"):
            whole = answered(status, kind, body)
            writer.write(whole[: len(whole) - len(body) // 2])
            await writer.drain()
            if says.get("then") != "close":
                await asyncio.sleep(3600)
            return False
        else:
            writer.write(answered(status, kind, body))
        await writer.drain()
        return True

    async def connection(self, reader, writer):
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        answers = 0
        try:
            while not self.asked.close_after or answers < self.asked.close_after:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
                length = next((line for line in head if line.startswith("content-length:")), ":0")
                await reader.readexactly(int(length.split(":")[1]))
                goes_on = await self.answer(head[0].split(" ")[1], writer)
                answers += 1
                if not goes_on or "connection: close" in head:
                    break
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


def answered(status, kind, body, more=""):
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n{more}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def stream(writer, kind, part, parts, between):
    writer.write(f"HTTP/1.1 200 X\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
    for _ in range(parts):
        writer.write(b"%x\r\n%s\r\n" % (len(part), part))
        await writer.drain()
        await asyncio.sleep(between / 1000)
    writer.write(b"0\r\n\r\n")


async def stand_still(pauses):
    every, _, spans = pauses.partition(":")
    spans = [float(span) / 1000 for span in spans.split(",")]
    turn = 0
    while True:
        await asyncio.sleep(float(every) / 1000)
        # All of the server waits.
        time.sleep(spans[turn % len(spans)])
        turn += 1


async def main():
    asked = options()
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((asked.host, asked.port))
    listener.listen(asked.backlog)
    served = Served(asked)
    server = await asyncio.start_server(served.connection, sock=listener, limit=1 << 22, backlog=asked.backlog)
    if asked.pauses:
        await stand_still(asked.pauses)
    await server.serve_forever()


asyncio.run(main())
