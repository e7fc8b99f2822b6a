"""A web server of several processes that share a listening socket, each of which answers the
connections that it accepted, one thread for each. A request reads blocks of a file, at places that
nobody can foresee."""

import argparse
import os
import random
import socket
import threading

from receive import receive

BLOCK = 4096
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"

options = argparse.ArgumentParser()
options.add_argument("--listen", required=True)
options.add_argument("--processes", type=int, default=4)
options.add_argument("--file", required=True)
options.add_argument("--reads", type=int, required=True)
options = options.parse_args()


def serve(connection, file, blocks):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while receive(connection):
        for _ in range(options.reads):
            os.pread(file, BLOCK, random.randrange(blocks) * BLOCK)
        connection.sendall(REPLY)


host, port = options.listen.rsplit(":", 1)
listener = socket.create_server((host, int(port)), backlog=128)
for _ in range(options.processes - 1):
    if os.fork() == 0:
        break
file = os.open(options.file, os.O_RDONLY)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
blocks = os.fstat(file).st_size // BLOCK
while True:
    connection, _ = listener.accept()
    threading.Thread(target=serve, args=(connection, file, blocks), daemon=True).start()
