"""An application for gunicorn: each request holds its worker for SLEEP_MS, and computes for CPU_MS."""

import os
import time

SLEEP, CPU = (float(os.environ.get(name, "0")) / 1000 for name in ("SLEEP_MS", "CPU_MS"))


def app(environ, start_response):
    time.sleep(SLEEP)
    until = time.thread_time() + CPU
    while time.thread_time() < until:
        pass
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "2")])
    return [b"ok"]
