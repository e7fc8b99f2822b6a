"""A web application without persistent connections: each of its processes opens a connection to memcached for a page,
asks for something, closes it when the page is done, and makes the next page. Refused, it says so, waits for a moment and
tries again."""

import socket
import sys
import threading
import time

RETRY_S = 0.05
PAGE_S = 0.01

port, workers, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
took = []
refusals = []


def page():
    """Whether it could be made."""
    try:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"get key\r\n")
            answer = connection.recv(4096)
            if answer != b"END\r\n":
                refusals.append(answer)
                return False
            time.sleep(PAGE_S)
            return True
    except ConnectionError as error:
        refusals.append(error)
        return False


def work(end):
    asked = time.monotonic()
    while time.monotonic() < end:
        if not page():
            time.sleep(RETRY_S)
            continue
        # With the time of all refused attempts: that is what the user of it waits.
        took.append(time.monotonic() - asked)
        asked = time.monotonic()


start = time.monotonic()
threads = [threading.Thread(target=work, args=(start + seconds,)) for _ in range(workers)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
passed = time.monotonic() - start
if refusals:
    print(f"{len(refusals)} refused, the last: {refusals[-1]}", file=sys.stderr)
mean_ms = sum(took) / len(took) * 1000
print(f"total: {passed:.1f} s, {len(took) / passed:.1f} tps, lat {mean_ms:.3f} ms")
