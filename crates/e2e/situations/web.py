"""HTTP/1.1 for staged servers: an event loop, a thread for each connection, or forked workers.

Must not know what is staged. A handler is a coroutine function that takes a Request and gives an Answer; it lets time pass
by `await server.pause(seconds)`, which holds up as much as it would in a server of that engine.
"""

import asyncio
import os
import signal
import socket
import ssl
import threading
import time

REASONS = {200: "OK", 201: "Created", 302: "Found", 304: "Not Modified", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden",
           404: "Not Found", 405: "Method Not Allowed", 415: "Unsupported Media Type", 429: "Too Many Requests",
           500: "Internal Server Error", 503: "Service Unavailable", 507: "Insufficient Storage"}
HEAD_MAX = 65536


class Request:
    """The first line and the headers of a request, and how many came before it on its connection."""

    def __init__(self, head, nth):
        lines = head.decode("latin-1").split("\r\n")
        self.method, self.path, _ = (lines[0].split(" ") + ["", ""])[:3]
        self.headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            self.headers[name.strip().lower()] = value.strip()
        self.nth = nth
        self.body_bytes = int(self.headers.get("content-length") or 0)
        self.body = b""


class Answer:
    """What is sent; `parts` of the body go out with `between` seconds from one to the next, as chunks or with a length.

    `cut` bytes at the end are never sent. `ending` is what becomes of the connection: it is kept, it is closed and the
    head says so (`close`), it is closed without a word (`hangup`), or nothing comes any more (`hang`).
    """

    def __init__(self, body=b"ok", status=200, kind="text/plain", headers=(), parts=1, between=0.0, chunked=False, cut=0,
                 ending="keep"):
        self.body, self.status, self.kind, self.headers = body, status, kind, headers
        self.parts, self.between, self.chunked, self.cut, self.ending = parts, between, chunked, cut, ending

    def head(self):
        length = "Transfer-Encoding: chunked" if self.chunked else f"Content-Length: {len(self.body)}"
        lines = [f"HTTP/1.1 {self.status} {REASONS.get(self.status, 'Other')}", f"Content-Type: {self.kind}", length,
                 *self.headers]
        if self.ending == "close":
            lines.append("Connection: close")
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    def pieces(self):
        """The body as it goes over the wire."""
        sent = self.body[:len(self.body) - self.cut]
        size = max(1, -(-len(self.body) // self.parts))
        pieces = [sent[at:at + size] for at in range(0, len(sent), size)]
        if not self.chunked:
            return pieces or [b""]
        return [b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces] + [b"0\r\n\r\n"] * (not self.cut)


class Server:
    """Where and how to listen, and what is done with each request."""

    def __init__(self, handler, port, host="127.0.0.1", backlog=4096, connections=0, silent=None, tls=None):
        self.handler, self.port, self.host, self.backlog = handler, port, host, backlog
        self.silent = silent or (lambda: False)
        self.connections = connections
        self.tls = None
        if tls:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(*tls.split(","))
        self.blocking = False
        # Of the event loop alone: seconds of silence after which a connection is closed, and bytes that are read ahead.
        self.idle = None
        self.limit = 1 << 20

    async def pause(self, seconds):
        if self.blocking:
            time.sleep(seconds)
        else:
            await asyncio.sleep(seconds)

    def socket(self):
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((self.host, self.port))
        listening.listen(self.backlog)
        return listening

    # One thread for all connections.

    def loop(self, beside=()):
        async def main():
            # The queue that asyncio asks for is that of the socket.
            server = await asyncio.start_server(self.serve_stream, sock=self.socket(), ssl=self.tls, limit=self.limit,
                                                backlog=self.backlog)
            # A task that nobody holds on to may be collected.
            tasks = [asyncio.create_task(work()) for work in beside]
            await server.serve_forever()
            del tasks

        asyncio.run(main())

    async def serve_stream(self, reader, writer):
        nth = 0
        try:
            writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.silent():
                await asyncio.sleep(3600)
            while True:
                request = Request(await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), self.idle), nth)
                await self.read_body(reader, request)
                answer = await self.answer(request)
                if answer is None:
                    break
                await self.write_stream(writer, answer)
                nth += 1
                if answer.ending == "hang":
                    await asyncio.sleep(3600)
                if is_last(request, answer):
                    await self.leave(reader)
                    break
        except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError):
            pass
        finally:
            writer.close()

    async def read_body(self, reader, request):
        request.body = await reader.readexactly(request.body_bytes)

    async def answer(self, request):
        return await self.handler(request)

    async def leave(self, reader):
        """Before a connection is closed after its last answer."""

    async def write_stream(self, writer, answer):
        to_send = answer.head()
        for piece in answer.pieces():
            writer.write(to_send + piece)
            await writer.drain()
            if answer.between:
                await asyncio.sleep(answer.between)
            to_send = b""

    # A thread for each connection, at most so many.

    def threads(self):
        self.blocking = True
        listening = self.socket()
        room = threading.Semaphore(self.connections or 100000)
        while True:
            room.acquire()
            connection, _ = listening.accept()
            threading.Thread(target=self.serve_and_leave, args=(connection, room), daemon=True).start()

    def serve_and_leave(self, connection, room):
        try:
            self.serve_blocking(connection)
        finally:
            room.release()

    def serve_blocking(self, connection):
        nth, buffered = 0, b""
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while True:
                while b"\r\n\r\n" not in buffered:
                    received = connection.recv(65536)
                    if not received or len(buffered) > HEAD_MAX:
                        return
                    buffered += received
                head, _, buffered = buffered.partition(b"\r\n\r\n")
                request = Request(head, nth)
                while len(buffered) < request.body_bytes:
                    received = connection.recv(65536)
                    if not received:
                        return
                    buffered += received
                buffered = buffered[request.body_bytes:]
                answer = at_once(self.handler(request))
                if answer is None:
                    return
                connection.sendall(answer.head() + b"".join(answer.pieces()))
                nth += 1
                if is_last(request, answer):
                    return
        except OSError:
            pass
        finally:
            connection.close()

    # Forked workers, each with one connection at a time; the first process only waits for them.

    def prefork(self, workers):
        self.blocking = True
        listening = self.socket()
        for _ in range(workers):
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                while True:
                    connection, _ = listening.accept()
                    self.serve_blocking(connection)
        os.wait()


def is_last(request, answer):
    """Whether the connection ends after this answer."""
    return answer.ending != "keep" or request.headers.get("connection", "").lower() == "close"


def at_once(coroutine):
    """Runs a coroutine that never waits for a loop."""
    try:
        coroutine.send(None)
    except StopIteration as ended:
        return ended.value
    raise RuntimeError("a handler of a blocking server waited for a loop")
