"""A web server with a thread for each connection, and many objects in memory. Another thread has all of these looked
through for cycles ("collects"), again and again, and no other thread of Python runs meanwhile; or it leaves them."""

import gc
import socket
import sys
import threading
import time

from receive import receive

OBJECTS = 1_500_000
PAUSE_S = 0.02
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"

port, word = sys.argv[1:]
# Else collections would begin while the objects are made.
gc.disable()
kept = [[] for _ in range(OBJECTS)]


def collect():
    while True:
        gc.collect()
        time.sleep(PAUSE_S)


def answer(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while receive(connection):
        connection.sendall(REPLY)


if word == "collects":
    threading.Thread(target=collect, daemon=True).start()
listener = socket.create_server(("127.0.0.1", int(port)), backlog=128)
while True:
    connection, _ = listener.accept()
    threading.Thread(target=answer, args=(connection,), daemon=True).start()
