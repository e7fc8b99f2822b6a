"""So many workers that wait for a job in a list of Redis, as they do all day while there is none: each has a connection,
and on it a command that does not return before there is one."""

import signal
import socket
import sys

port, count = map(int, sys.argv[1:])
workers = [socket.create_connection(("127.0.0.1", port)) for _ in range(count)]
for worker in workers:
    worker.sendall(b"BRPOP jobs 0\r\n")
print("waiting", flush=True)
signal.pause()
