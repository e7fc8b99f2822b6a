"""A load generator of one thread that fetches large answers over a few connections and computes a checksum
of each piece as it comes in, as a copy does that trusts nobody. It says what it did at its end."""

import argparse
import hashlib
import selectors
import socket
import time

PIECE = 64 << 10
QUESTION = b"GET /file HTTP/1.1\r\nHost: server\r\n\r\n"
LENGTH = b"Content-Length: "

options = argparse.ArgumentParser()
options.add_argument("--port", type=int, required=True)
options.add_argument("--connections", type=int, default=4)
options.add_argument("--seconds", type=float, required=True)
options.add_argument("--checksum", action="store_true")
options = options.parse_args()


class Connection:
    def __init__(self):
        self.socket = socket.create_connection(("127.0.0.1", options.port))
        self.ask()

    def ask(self):
        self.asked = time.monotonic()
        self.missing = None
        self.socket.sendall(QUESTION)

    def take(self):
        """Takes what has come; whether that was the end of an answer."""
        piece = self.socket.recv(PIECE)
        if self.missing is None:
            head, _, piece = piece.partition(b"\r\n\r\n")
            if LENGTH not in head:
                raise SystemExit("the server gave no whole head")
            self.missing = int(head.split(LENGTH)[1].split(b"\r\n")[0])
        if options.checksum:
            hashlib.sha3_512(piece).digest()
        self.missing -= len(piece)
        return self.missing == 0


start = time.monotonic()
selector = selectors.DefaultSelector()
for _ in range(options.connections):
    connection = Connection()
    selector.register(connection.socket, selectors.EVENT_READ, connection)

took = []
while time.monotonic() < start + options.seconds:
    for key, _ in selector.select(timeout=0.1):
        if key.data.take():
            took.append(time.monotonic() - key.data.asked)
            key.data.ask()

seconds = time.monotonic() - start
mean_ms = sum(took) / len(took) * 1000
print(f"total: {seconds:.1f} s, {len(took) / seconds:.1f} tps, lat {mean_ms:.3f} ms")
