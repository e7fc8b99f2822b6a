"""A web server with a thread for each connection, each request of which writes a block of a file past the
page cache, at a place that nobody can foresee, as a store does that has a cache of its own."""

import mmap
import os
import random
import socket
import sys
import threading

from receive import receive

BLOCK = 4096
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"

port, path = int(sys.argv[1]), sys.argv[2]
file = os.open(path, os.O_WRONLY | os.O_DIRECT)
blocks = os.fstat(file).st_size // BLOCK


def answer(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # Writes past the page cache want memory that begins with a page.
    block = mmap.mmap(-1, BLOCK)
    while receive(connection):
        os.pwritev(file, [block], random.randrange(blocks) * BLOCK)
        connection.sendall(REPLY)


listener = socket.create_server(("127.0.0.1", port), backlog=128)
while True:
    connection, _ = listener.accept()
    threading.Thread(target=answer, args=(connection,), daemon=True).start()
