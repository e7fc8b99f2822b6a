"""Looks whether a database is there, as a load balancer does that knows nothing of its protocol: opens a connection and
closes it at once, so many times per second. It says when it has begun."""

import socket
import sys
import time

port, per_second = int(sys.argv[1]), int(sys.argv[2])
print("begun", flush=True)
due = time.monotonic()
while True:
    socket.create_connection(("127.0.0.1", port)).close()
    due += 1 / per_second
    time.sleep(max(0, due - time.monotonic()))
