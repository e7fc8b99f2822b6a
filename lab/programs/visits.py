"""Visitors of a web site, each of whom opens a connection for a page, asks for it, and goes on to the next one. Refused,
or told that the server cannot, a visitor waits for a moment and tries again."""

import socket
import sys
import threading
import time

RETRY_S = 0.1

port, visitors, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
took = []
refusals = []


def page():
    """Whether it came."""
    try:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: lab\r\nConnection: close\r\n\r\n")
            answer = connection.recv(4096)
            if answer.startswith(b"HTTP/1.1 200"):
                return True
            refusals.append(answer[:30])
    except ConnectionError as error:
        refusals.append(error)
    return False


def visit(end):
    asked = time.monotonic()
    while time.monotonic() < end:
        if not page():
            time.sleep(RETRY_S)
            continue
        # With the time of all refused attempts: that is what a visitor waits.
        took.append(time.monotonic() - asked)
        asked = time.monotonic()


start = time.monotonic()
threads = [threading.Thread(target=visit, args=(start + seconds,)) for _ in range(visitors)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
passed = time.monotonic() - start
if refusals:
    print(f"{len(refusals)} refused, the last: {refusals[-1]}", file=sys.stderr)
mean_ms = sum(took) / len(took) * 1000
print(f"total: {passed:.1f} s, {len(took) / passed:.1f} tps, lat {mean_ms:.3f} ms")
