"""A server with a behaviour for each path: `routes.py --port 8080 --route '/slow sleep=300 pool=4' --route '/ sleep=5'`.

Must not know who asks. A request is answered by the longest route that its path begins with; spans are milliseconds unless
the option says seconds. `/state` tells how many requests have a place in a pool, and how large the largest pool is.

What a route knows: `sleep`, `exp` (a sleep by chance with this mean), `mode=MS:SHARE`, `first` (more for the first request on a
connection), `knee` (a sleep grows by the square of requests at a time over this many), `cpu`, `pool` (requests at a time),
`grows=SECONDS:SIZE` (what the pool is from then on), `status`, `fail=STATUS:SHARE`, `to` (a redirect), `away=PATH:SHARE` (a redirect of some), `body` (bytes), `text`,
`json`, `page` (HTML with this heading, `_` for spaces), `kind` (content type), `empty` (share of bodies without a byte),
`errevery` and `errshare` (answers that hold an error), `parts` and `between` (a stream), `half` (share of answers that stop in
the middle) and `then=close`.
"""

import argparse
import asyncio
import json
import random
import time

from web import Answer, Server

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
        self.used = self.inside = 0

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
        return json_answer({"used": used, "size": max(sizes, default=0)})

    async def work(self, route, is_first):
        since = time.monotonic() - self.first
        span = random.expovariate(1 / route.number("exp")) if "exp" in route.says else route.number("sleep")
        span += float(route.share("mode") or 0) + is_first * route.number("first")
        if "knee" in route.says:
            span *= 1 + (route.inside / route.number("knee")) ** 2
        if self.asked.step:
            at, factor = map(float, self.asked.step.split(":"))
            span *= factor if since > at else 1
        span += self.asked.grow * since
        if span:
            await asyncio.sleep(span / 1000)
        until = time.thread_time() + route.number("cpu") / 1000
        while time.thread_time() < until:
            pass

    async def in_turn(self, route, is_first):
        if not route.pool:
            return await self.work(route, is_first)
        at, _, size = route.says.get("grows", "inf:0").partition(":")
        if time.monotonic() - self.first > float(at):
            while route.size < int(size):
                route.size += 1
                route.pool.release()
        async with route.pool:
            route.used += 1
            try:
                await self.work(route, is_first)
            finally:
                route.used -= 1

    async def handle(self, request):
        if request.path == "/state":
            return self.state()
        self.first = self.first or time.monotonic()
        if self.asked.silent_from and time.monotonic() - self.first > self.asked.silent_from:
            await asyncio.sleep(3600)
        route = next((route for route in self.routes if request.path.startswith(route.path)), Route("/"))
        route.asked += 1
        number = route.asked
        route.inside += 1
        try:
            await self.in_turn(route, request.nth == 0)
        finally:
            route.inside -= 1
        answer = answered(route, number)
        if self.asked.close_after and request.nth + 1 >= self.asked.close_after and answer.ending == "keep":
            answer.ending = "hangup"
        return answer

    async def stand_still(self):
        every, _, spans = self.asked.pauses.partition(":")
        spans = [float(span) / 1000 for span in spans.split(",")]
        turn = 0
        while True:
            await asyncio.sleep(float(every) / 1000)
            # All of the server waits.
            time.sleep(spans[turn % len(spans)])
            turn += 1


def answered(route, number):
    says = route.says
    parts, each = int(says.get("parts", 1)), int(says.get("body", 2))
    answer = Answer(b"x" * each * parts, int(says.get("status", 200)), says.get("kind", "text/plain"))
    if "text" in says:
        answer.body = says["text"].encode()
    if "json" in says:
        answer = json_answer({"id": number, "name": "drill"})
    if "page" in says:
        page = f"<html><head><title>Shop</title></head><body><h1>{says['page'].replace('_', ' ')}</h1></body></html>"
        answer = Answer(page.encode(), answer.status, "text/html")
    if random.random() < route.number("empty"):
        answer.body = b""
    failed = route.share("fail")
    if failed:
        answer = Answer(b"failed", int(failed), answer.kind)
    every = int(route.number("errevery"))
    if every and number % every == 0 or random.random() < route.number("errshare"):
        answer.body = ERROR
    away = route.share("away")
    if away:
        return Answer(b"", 302, answer.kind, headers=[f"Location: {away}"])
    if "to" in says:
        return Answer(b"", 302, answer.kind, headers=[f"Location: {says['to']}"])
    if "parts" in says:
        answer.parts, answer.between, answer.chunked = parts, route.number("between") / 1000, True
    elif random.random() < route.number("half"):
        answer.cut = len(answer.body) // 2
        answer.ending = "hangup" if says.get("then") == "close" else "hang"
    return answer


def json_answer(value):
    return Answer(json.dumps(value).encode(), kind="application/json")


def main():
    asked = options()
    served = Served(asked)
    server = Server(served.handle, asked.port, asked.host, asked.backlog)
    server.loop([served.stand_still] if asked.pauses else [])


main()
