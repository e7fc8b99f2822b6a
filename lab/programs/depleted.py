"""A web server with a thread for each connection, whose requests ask a service over connections of a pool. The call that
fails keeps its connection: nobody gives it back, and the pool has one less from then on. So many calls have failed before
the server listens."""

import queue
import socket
import sys
import threading

from receive import receive

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"
QUESTION = b"GET / HTTP/1.1\r\nHost: service\r\n\r\n"

port, service, size, failures = sys.argv[1:]
host, service_port = service.rsplit(":", 1)


def connect():
    connection = socket.create_connection((host, int(service_port)))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


pool = queue.LifoQueue()
for _ in range(int(size)):
    pool.put(connect())


def ask(seconds):
    connection = pool.get()
    connection.settimeout(seconds)
    connection.sendall(QUESTION)
    read = b""
    while not read.endswith(b"ok\n"):
        read += connection.recv(4096)
    # What is raised above this line leaves the connection with nobody.
    pool.put(connection)


def answer(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while receive(connection):
        ask(None)
        connection.sendall(REPLY)


for _ in range(int(failures)):
    try:
        ask(0.0001)
    except TimeoutError:
        pass
listener = socket.create_server(("127.0.0.1", int(port)), backlog=128)
while True:
    connection, _ = listener.accept()
    threading.Thread(target=answer, args=(connection,), daemon=True).start()
