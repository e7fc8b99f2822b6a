"""A load generator as people write one for an afternoon: one thread, a few connections, and work of
its own between an answer and the next request. It says what it did at its end, and no latency before."""

import argparse
import selectors
import socket
import time

options = argparse.ArgumentParser()
options.add_argument("--port", type=int, required=True)
options.add_argument("--connections", type=int, default=8)
options.add_argument("--seconds", type=float, required=True)
options.add_argument("--compute-us", type=int, default=0)
options = options.parse_args()

QUESTION = b"GET / HTTP/1.1\r\nHost: server\r\n\r\n"


def compute(us):
    end = time.thread_time_ns() + us * 1000
    while time.thread_time_ns() < end:
        pass


selector = selectors.DefaultSelector()
asked = {}


def ask(connection):
    compute(options.compute_us)
    asked[connection] = time.monotonic()
    connection.sendall(QUESTION)


start = time.monotonic()
for _ in range(options.connections):
    connection = socket.create_connection(("127.0.0.1", options.port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    selector.register(connection, selectors.EVENT_READ)
    ask(connection)

took = []
while time.monotonic() < start + options.seconds:
    for key, _ in selector.select(timeout=0.1):
        if not key.fileobj.recv(4096).endswith(b"ok\n"):
            raise SystemExit("the server gave no whole answer")
        took.append(time.monotonic() - asked[key.fileobj])
        ask(key.fileobj)

seconds = time.monotonic() - start
mean_ms = sum(took) / len(took) * 1000
print(f"total: {seconds:.1f} s, {len(took) / seconds:.1f} tps, lat {mean_ms:.3f} ms")
