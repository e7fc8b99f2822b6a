"""A web server with a thread for each connection, which may have made a large report once: nearly all of its pieces are
gone, but one of many is still there in each of the blocks that the interpreter has taken from the kernel, so that it has
given next to none of them back."""

import socket
import sys
import threading

from receive import receive

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"
PIECE = 400
KEPT = 200

port, pieces = int(sys.argv[1]), int(sys.argv[2])
report = [bytes(PIECE) for _ in range(pieces)]
kept = report[::KEPT]
del report


def answer(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection:
        while receive(connection):
            connection.sendall(REPLY)


listener = socket.create_server(("127.0.0.1", port), backlog=128)
while True:
    connection, _ = listener.accept()
    threading.Thread(target=answer, args=(connection,), daemon=True).start()
