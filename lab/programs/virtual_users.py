"""A load generator of one process, as those are whose users are written in Python: each of its users is a thread, one of
which runs at a time, and looks into each answer for what a person would look for. It says what it did at its end."""

import argparse
import socket
import threading
import time

QUESTION = b"GET /list.txt HTTP/1.1\r\nHost: server\r\n\r\n"
LENGTH = b"Content-Length: "

options = argparse.ArgumentParser()
options.add_argument("--port", type=int, required=True)
options.add_argument("--users", type=int, default=8)
options.add_argument("--seconds", type=float, required=True)
options.add_argument("--look", action="store_true")
options = options.parse_args()

took = []


def fetch(connection):
    connection.sendall(QUESTION)
    head, read = b"", b""
    while not head:
        read += connection.recv(1 << 18)
        head, _, body = read.partition(b"\r\n\r\n")
        if not _:
            head = b""
    length = int(head.split(LENGTH)[1].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(1 << 18)
    return body


def look(body):
    entries = {}
    for line in body.decode().splitlines():
        number, word, *_ = line.split()
        entries[int(number)] = int(word, 16)
    return max(entries)


def visit(end):
    with socket.create_connection(("127.0.0.1", options.port)) as connection:
        while time.monotonic() < end:
            asked = time.monotonic()
            body = fetch(connection)
            took.append(time.monotonic() - asked)
            if options.look:
                look(body)


start = time.monotonic()
users = [
    threading.Thread(target=visit, args=(start + options.seconds,)) for _ in range(options.users)
]
for user in users:
    user.start()
for user in users:
    user.join()
seconds = time.monotonic() - start
mean_ms = sum(took) / len(took) * 1000
print(f"total: {seconds:.1f} s, {len(took) / seconds:.1f} tps, lat {mean_ms:.3f} ms")
