"""An application without a connection pool: each of its workers opens a connection to Redis, asks something,
keeps the connection for a while and closes it. Refused, it says so and tries again."""

import argparse
import socket
import sys
import threading
import time

RETRY_S = 0.1

options = argparse.ArgumentParser()
options.add_argument("--port", type=int, required=True)
options.add_argument("--workers", type=int, default=30)
options.add_argument("--keep", type=float, default=0.2, help="s")
options.add_argument("--seconds", type=float, required=True)
options = options.parse_args()


class Refused(Exception):
    pass


def visit():
    with socket.create_connection(("127.0.0.1", options.port)) as connection:
        connection.sendall(b"PING\r\n")
        answer = connection.recv(4096)
        if not answer.startswith(b"+"):
            raise Refused(answer.decode().strip() or "the server has closed")
        time.sleep(options.keep)


took = []


def work(end):
    asked = time.monotonic()
    while time.monotonic() < end:
        try:
            visit()
        except (Refused, ConnectionError) as error:
            print(error, file=sys.stderr)
            time.sleep(RETRY_S)
            continue
        # With the time of all refused attempts: that is what the user of it waits.
        took.append(time.monotonic() - asked)
        asked = time.monotonic()


start = time.monotonic()
workers = [
    threading.Thread(target=work, args=(start + options.seconds,)) for _ in range(options.workers)
]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
seconds = time.monotonic() - start
mean_ms = sum(took) / len(took) * 1000
print(f"total: {seconds:.1f} s, {len(took) / seconds:.1f} tps, lat {mean_ms:.3f} ms")
