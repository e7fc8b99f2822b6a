"""A web application whose pages show a basket: for each of twenty articles a process asks Redis for its price, and asks for
the next one when it has the answer."""

import socket
import sys
import threading
import time

ARTICLES = 20

host, port, processes, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
took = []


def work(end):
    with socket.create_connection((host, port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while time.monotonic() < end:
            asked = time.monotonic()
            for article in range(ARTICLES):
                connection.sendall(b"GET price:%d\r\n" % article)
                if not connection.recv(4096):
                    raise ConnectionError("Redis has closed")
            took.append(time.monotonic() - asked)


start = time.monotonic()
threads = [threading.Thread(target=work, args=(start + seconds,)) for _ in range(processes)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
passed = time.monotonic() - start
mean_ms = sum(took) / len(took) * 1000
print(f"total: {passed:.1f} s, {len(took) / passed:.1f} tps, lat {mean_ms:.3f} ms")
