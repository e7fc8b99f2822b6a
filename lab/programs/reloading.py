"""A web server with a thread for each connection, each request of which looks into the settings under a lock. A thread
in the background reads these anew from somewhere, again and again, and has the lock meanwhile."""

import socket
import sys
import threading
import time

from receive import receive

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"

address = sys.argv[1]
# How long a reload takes (0: there is none), and how long the next one is away.
reload_s, pause_s = (int(ms) / 1000 for ms in sys.argv[2:])
lock = threading.Lock()


def reload():
    while True:
        with lock:
            time.sleep(reload_s)
        time.sleep(pause_s)


def answer(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while receive(connection):
        with lock:
            reply = REPLY
        connection.sendall(reply)


if reload_s:
    threading.Thread(target=reload, daemon=True).start()
host, port = address.rsplit(":", 1)
listener = socket.create_server((host, int(port)), backlog=128)
while True:
    connection, _ = listener.accept()
    threading.Thread(target=answer, args=(connection,), daemon=True).start()
