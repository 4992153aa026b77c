"""A name server that answers each question for an IPv4 address with 127.0.0.1 after a while: `resolver.py --delay 300`."""

import argparse
import socket
import threading
import time


def answer(question, found):
    head = question[:2] + b"\x81\x80\x00\x01" + (b"\x00\x01" if found else b"\x00\x00") + b"\x00\x00\x00\x00"
    end = question.index(b"\x00", 12) + 5
    record = b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x00\x00\x04\x7f\x00\x00\x01" if found else b""
    return head + question[12:end] + record


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.53")
    parser.add_argument("--delay", type=float, default=300, help="ms")
    asked = parser.parse_args()
    listening = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listening.bind((asked.host, 53))

    def serve(question, client):
        time.sleep(asked.delay / 1000)
        kind = question[question.index(b"\x00", 12) + 1:][:2]
        listening.sendto(answer(question, kind == b"\x00\x01"), client)

    while True:
        question, client = listening.recvfrom(512)
        threading.Thread(target=serve, args=(question, client), daemon=True).start()


main()
