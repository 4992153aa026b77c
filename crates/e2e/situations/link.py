"""A link of known delay, loss and rate between this machine and a network namespace: packets pass through here.

Must not know what they carry. Invariant: one queue each way; a packet leaves in order, after `--delay` and at `--rate`, and
is dropped where `--queue` bytes wait already. It ends with the process, and the namespace is empty then.
"""

import argparse
import collections
import fcntl
import os
import random
import select
import struct
import subprocess
import time

TUNSETIFF, IFF_TUN_WITHOUT_INFO = 0x400454CA, 0x1001
NEAR, FAR = "10.213.7.1", "10.213.7.2"


def tun(name):
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN_WITHOUT_INFO))
    return device


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def set_up(namespace):
    near, far = tun("llnear"), tun("llfar")
    ip("link", "set", "llfar", "netns", namespace)
    ip("addr", "add", f"{NEAR}/24", "dev", "llnear")
    ip("link", "set", "llnear", "up")
    inside = ["-n", namespace]
    ip(*inside, "addr", "add", f"{FAR}/24", "dev", "llfar")
    ip(*inside, "link", "set", "llfar", "up")
    ip(*inside, "link", "set", "lo", "up")
    return near, far


class Way:
    """One direction."""

    begun_at = None
    own_syn = False

    def __init__(self, source, sink, asked, own_rate, own_loss=0.0):
        self.source, self.sink, self.asked = source, sink, asked
        self.own_loss = own_loss
        self.own_rate = own_rate
        self.waiting = collections.deque()
        self.bytes = 0
        self.free_at = 0.0

    def take(self):
        asked = self.asked
        for _ in range(64):
            try:
                packet = os.read(self.source, 65536)
            except BlockingIOError:
                return
            now = time.monotonic()
            Way.begun_at = Way.begun_at or now
            if asked.cut and now - Way.begun_at >= asked.cut:
                continue
            since = now - Way.begun_at
            if asked.blackout[0] and since % asked.blackout[0] > asked.blackout[0] - asked.blackout[1]:
                continue
            loss = asked.later_loss[1] if since >= asked.later_loss[0] else asked.loss
            rate = asked.later_rate[1] if since >= asked.later_rate[0] else self.own_rate or asked.rate
            loss = loss or self.own_loss
            if asked.max_packet and len(packet) > asked.max_packet:
                continue
            if asked.loss_syn and self.own_syn and is_syn(packet) and random.random() < asked.loss_syn:
                continue
            if loss and random.random() < loss or self.bytes + len(packet) > asked.queue:
                continue
            self.free_at = max(self.free_at, now) + (len(packet) / rate if rate else 0)
            due = self.free_at + self.delay(now - Way.begun_at) / 1000
            # A packet does not overtake another.
            due = max(due, self.waiting[-1][0]) if self.waiting else due
            self.waiting.append((due, packet))
            self.bytes += len(packet)

    def delay(self, since):
        at, later = self.asked.later
        every, span, more = self.asked.spike
        if every and since % every > every - span:
            return self.asked.delay + more
        return (later if since >= at else self.asked.delay) + random.random() * self.asked.jitter

    def give(self, now):
        while self.waiting and self.waiting[0][0] <= now:
            packet = self.waiting.popleft()[1]
            self.bytes -= len(packet)
            try:
                os.write(self.sink, packet)
            except OSError:
                # A device whose queue is full drops, as links do.
                pass

    def due(self):
        return self.waiting[0][0] if self.waiting else None


def is_syn(packet):
    return packet[9] == 6 and packet[(packet[0] & 15) * 4 + 13] & 0x12 == 0x02


def pair(text):
    return tuple(map(float, text.split(":")))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--namespace", required=True)
    parser.add_argument("--delay", type=float, default=0, help="ms each way")
    parser.add_argument("--jitter", type=float, default=0, help="ms of delay beside, at most, by chance for each packet")
    parser.add_argument("--later", type=pair, default=(float("inf"), 0.0), help="SECONDS:MS, the delay from then on")
    parser.add_argument("--loss", type=float, default=0, help="share of packets, each way")
    parser.add_argument("--rate", type=float, default=0, help="bytes per second each way; 0: no limit")
    parser.add_argument("--queue", type=int, default=1 << 20, help="bytes that may wait each way")
    parser.add_argument("--cut", type=float, default=0, help="seconds after the first packet from which none passes; 0: never")
    parser.add_argument("--up", type=float, default=0, help="bytes per second towards the far side")
    parser.add_argument("--down", type=float, default=0, help="bytes per second towards this side")
    parser.add_argument("--later-rate", type=pair, default=(float("inf"), 0.0), help="SECONDS:BYTES_PER_SECOND")
    parser.add_argument("--later-loss", type=pair, default=(float("inf"), 0.0), help="SECONDS:SHARE")
    parser.add_argument("--blackout", type=pair, default=(0.0, 0.0), help="EVERY:SECONDS, nothing passes at the end of each")
    parser.add_argument("--loss-up", type=float, default=0)
    parser.add_argument("--loss-down", type=float, default=0)
    parser.add_argument("--loss-syn", type=float, default=0, help="share of SYN towards the far side")
    parser.add_argument("--max-packet", type=int, default=0, help="larger ones vanish")
    parser.add_argument("--spike", type=pair, default=(0.0, 0.0, 0.0), help="EVERY:SECONDS:MS, more delay at the end of each")
    asked = parser.parse_args()
    near, far = set_up(asked.namespace)
    ways = [Way(near, far, asked, asked.up, asked.loss_up), Way(far, near, asked, asked.down, asked.loss_down)]
    ways[0].own_syn = True
    while True:
        dues = [due for due in (way.due() for way in ways) if due is not None]
        patience = max(0.0, min(dues) - time.monotonic()) if dues else 1.0
        readable, _, _ = select.select([near, far], [], [], patience)
        for way in ways:
            if way.source in readable:
                way.take()
            way.give(time.monotonic())


main()
