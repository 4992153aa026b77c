"""A server in which one thing is staged, named by options: `serve.py --port 8080 --pool 8 --sleep 50`.

Must not know who asks. Spans are milliseconds unless the option says seconds; a request passes the stages in the order in
which they stand in `Staged.answer`.
"""

import argparse
import asyncio
import ctypes
import os
import random
import threading
import time

from web import Answer, Server

BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5]


def options():
    parser = argparse.ArgumentParser()
    say = parser.add_argument
    say("--port", type=int, required=True)
    say("--host", default="127.0.0.1")
    say("--title", help="the name that the process shows")
    say("--engine", default="loop", choices=["loop", "threads", "prefork"])
    say("--workers", type=int, default=3, help="forked workers")
    say("--backlog", type=int, default=4096)
    say("--connections", type=int, default=0, help="threads: connections taken at a time; others wait to be accepted")
    say("--tls", help="CERTIFICATE,KEY")
    say("--late", type=float, default=0, help="seconds before it listens")
    say("--die", type=float, default=0, help="seconds from the first request to its end")
    say("--revive", type=float, default=-1, help="seconds after which it is started again when it ends")
    say("--pool", type=int, default=0, help="requests at a time; others wait in order")
    say("--sleep", type=float, default=0)
    say("--law", default="fixed", choices=["fixed", "exp"])
    say("--cpu", type=float, default=0, help="time of the processor, whoever else uses it")
    say("--lock", type=float, default=0, help="time under one lock for all")
    say("--fsync", type=int, default=0, help="times that 4 KiB are written and synchronised")
    say("--leak", type=int, default=0, help="KiB kept of each request")
    say("--leak-max", type=float, default=0, help="MiB at which the process ends itself")
    say("--fail", default="", help="STATUS:SHARE")
    say("--rate-limit", type=float, default=0, help="answers per second; 429 beyond them")
    say("--burst", type=float, default=0, help="answers that the limit allows at once [a tenth of a second's]")
    say("--pause", default="", help="MS:EVERY_MS, all stand still")
    say("--cold", default="", help="SECONDS:MS, from the first request on")
    say("--cache", default="", help="KEYS:MS, the first time that a key is asked for")
    say("--mode", default="", help="MS:SHARE, some take so much longer")
    say("--body", type=int, default=2)
    say("--parts", type=int, default=1)
    say("--between", type=float, default=0, help="from one part of the body to the next")
    say("--keepalive", type=int, default=0, help="requests on a connection, the last of which says that it is")
    say("--hangup", type=int, default=0, help="the same, unsaid")
    say("--silent", type=float, default=0, help="share of connections that are never answered")
    say("--answers", default="", choices=["", "error3", "empty3", "nulls", "types", "redirect", "html3"])
    say("--replica", default="", help="value of a header X-Replica")
    return parser.parse_args()


def pair(text):
    first, _, second = text.partition(":")
    return float(first), float(second)


class Room:
    """At most so many at a time, in order of arrival, for both kinds of engine."""

    def __init__(self, size, blocking):
        self.blocking = blocking
        self.inside = threading.Semaphore(size) if blocking else asyncio.Semaphore(size)

    async def enter(self):
        if self.blocking:
            self.inside.acquire()
        else:
            await self.inside.acquire()

    def leave(self):
        self.inside.release()


class Staged:
    """What is staged, and what was counted."""

    def __init__(self, asked):
        self.asked = asked
        self.server = Server(self.handle, asked.port, asked.host, asked.backlog, asked.connections,
                             lambda: random.random() < asked.silent, asked.tls)
        blocking = asked.engine != "loop"
        self.room = Room(asked.pool, blocking) if asked.pool else None
        self.lock = Room(1, blocking)
        self.first = None
        self.count = 0
        self.kept = []
        self.seen = set()
        self.burst = asked.burst or asked.rate_limit / 10
        self.tokens, self.filled = self.burst, time.monotonic()
        self.buckets, self.seconds = [0] * (len(BUCKETS) + 1), 0.0
        self.file = os.open(f"synced-{asked.port}", os.O_CREAT | os.O_WRONLY, 0o600) if asked.fsync else None

    def run(self):
        asked = self.asked
        if asked.engine == "threads":
            self.server.threads()
        elif asked.engine == "prefork":
            self.server.prefork(asked.workers)
        else:
            self.server.loop([self.stand_still] if asked.pause else [])

    async def stand_still(self):
        span, every = pair(self.asked.pause)
        while True:
            await asyncio.sleep((every - span) / 1000)
            # Not awaited: the loop stands still.
            time.sleep(span / 1000)

    async def handle(self, request):
        if request.path == "/metrics":
            return Answer(self.metrics(), kind="text/plain; version=0.0.4")
        if self.first is None:
            self.first = time.monotonic()
            if self.asked.die:
                timer = threading.Timer(self.asked.die, os._exit, [1])
                timer.daemon = True
                timer.start()
        self.count += 1
        if self.asked.rate_limit and not self.has_token():
            return Answer(b"too many", 429, headers=["Retry-After: 1"])
        if self.room:
            await self.room.enter()
        begun = time.monotonic()
        try:
            await self.work()
        finally:
            if self.room:
                self.room.leave()
        self.observe(time.monotonic() - begun)
        return self.answer(request)

    def has_token(self):
        now, rate = time.monotonic(), self.asked.rate_limit
        self.tokens = min(self.burst, self.tokens + (now - self.filled) * rate)
        self.filled = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True

    async def work(self):
        asked = self.asked
        seconds = asked.sleep / 1000
        if asked.law == "exp" and seconds:
            seconds = random.expovariate(1 / seconds)
        seconds += self.extra()
        if seconds:
            await self.server.pause(seconds)
        if asked.cpu:
            until = time.thread_time() + asked.cpu / 1000
            while time.thread_time() < until:
                pass
        if asked.lock:
            await self.lock.enter()
            await self.server.pause(asked.lock / 1000)
            self.lock.leave()
        for _ in range(asked.fsync):
            os.pwrite(self.file, os.urandom(4096), 0)
            os.fsync(self.file)
        if asked.leak:
            self.kept.append(os.urandom(1024) * asked.leak)
            if asked.leak_max and len(self.kept) * asked.leak > asked.leak_max * 1024:
                os._exit(1)

    def extra(self):
        asked, extra = self.asked, 0.0
        if asked.cold:
            seconds, span = pair(asked.cold)
            if time.monotonic() - self.first < seconds:
                extra += span / 1000
        if asked.cache:
            keys, span = pair(asked.cache)
            key = random.randrange(int(keys))
            if key not in self.seen:
                self.seen.add(key)
                extra += span / 1000
        if asked.mode:
            span, share = pair(asked.mode)
            if random.random() < share:
                extra += span / 1000
        return extra

    def answer(self, request):
        asked = self.asked
        answer = Answer(b"x" * asked.body, parts=asked.parts, between=asked.between / 1000)
        if asked.fail:
            status, share = pair(asked.fail)
            if random.random() < share:
                answer = Answer(b"failed", int(status))
        third = self.count % 3 == 0
        if asked.answers:
            answer = {
                "error3": lambda: json(b'{"error":"upstream timed out"}' if third else b'{"id":17,"name":"drill"}'),
                "empty3": lambda: json(b"{}" if third else b'{"id":17,"name":"drill"}'),
                "html3": lambda: Answer(b"<html><body>Sign in</body></html>", kind="text/html") if third
                else json(b'{"id":17,"name":"drill"}'),
                "nulls": lambda: json(b'{"id":null,"items":[]}'),
                "types": lambda: [json(b'{"id":17}'), Answer(b"<p>17</p>", kind="text/html"),
                                  Answer(b"\x89PNG" * 40, kind="image/png")][self.count % 3],
                "redirect": lambda: answer if request.path == "/there"
                else Answer(b"", 302, headers=["Location: /there"]),
            }[asked.answers]()
        if asked.replica:
            answer.headers = [*answer.headers, f"X-Replica: {asked.replica}"]
        if asked.keepalive and request.nth + 1 >= asked.keepalive:
            answer.ending = "close"
        if asked.hangup and request.nth >= asked.hangup:
            return None
        return answer

    def observe(self, seconds):
        place = next((at for at, bound in enumerate(BUCKETS) if seconds <= bound), len(BUCKETS))
        self.buckets[place] += 1
        self.seconds += seconds

    def metrics(self):
        lines, sum_so_far = ["# TYPE handler_seconds histogram"], 0
        for bound, count in zip([*BUCKETS, "+Inf"], self.buckets):
            sum_so_far += count
            lines.append(f'handler_seconds_bucket{{le="{bound}"}} {sum_so_far}')
        lines += [f"handler_seconds_sum {self.seconds}", f"handler_seconds_count {sum_so_far}", ""]
        return "\n".join(lines).encode()


def json(body):
    return Answer(body, kind="application/json")


def main():
    asked = options()
    if asked.title:
        # PR_SET_NAME; what is forked later has it too.
        ctypes.CDLL(None).prctl(15, asked.title.encode(), 0, 0, 0)
    time.sleep(asked.late)
    while asked.revive >= 0:
        child = os.fork()
        if child == 0:
            break
        os.waitpid(child, 0)
        time.sleep(asked.revive)
    Staged(asked).run()


main()
