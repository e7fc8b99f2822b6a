"""A web server with a thread for each connection, each request of which reads blocks of a file, one after the
other and at places that nobody can foresee, past the page cache ("direct") or from it ("cached")."""

import mmap
import os
import random
import socket
import sys
import threading

from receive import receive

BLOCK = 4096
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"

address, path, reads, way = sys.argv[1:]
file = os.open(path, os.O_RDONLY | (os.O_DIRECT if way == "direct" else 0))
blocks = os.fstat(file).st_size // BLOCK


def answer(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # Reads past the page cache want memory that begins with a page.
    block = mmap.mmap(-1, BLOCK)
    while receive(connection):
        for _ in range(int(reads)):
            os.preadv(file, [block], random.randrange(blocks) * BLOCK)
        connection.sendall(REPLY)


host, port = address.rsplit(":", 1)
listener = socket.create_server((host, int(port)), backlog=128)
while True:
    connection, _ = listener.accept()
    threading.Thread(target=answer, args=(connection,), daemon=True).start()
