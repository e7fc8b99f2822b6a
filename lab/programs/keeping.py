"""A web server that keeps something in a file of its own for each request, notes that in an index, and
removes the file again, and waits for a millisecond. A file that cannot be made is tried for again some
times; the answer is the same."""

import os
import socket
import sys
import tempfile
import threading
import time

from receive import receive

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"
TRIES = 3
PAUSE_S = 0.02
WAIT_S = 0.001

port, folder = int(sys.argv[1]), sys.argv[2]
index = os.open(os.path.join(folder, "index"), os.O_WRONLY | os.O_CREAT, 0o644)


def keep():
    for _ in range(TRIES):
        try:
            with tempfile.NamedTemporaryFile(dir=folder) as file:
                file.write(b"x" * 1000)
            os.pwrite(index, b"kept\n", 0)
            return
        except OSError:
            time.sleep(PAUSE_S)


def answer(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while receive(connection):
        keep()
        time.sleep(WAIT_S)
        connection.sendall(REPLY)


listener = socket.create_server(("127.0.0.1", port), backlog=128)
while True:
    connection, _ = listener.accept()
    threading.Thread(target=answer, args=(connection,), daemon=True).start()
