"""A web application each request of which asks another service on a unix socket, a thread and a connection to the service for
each connection. It listens on all addresses."""

import socket
import sys
import threading

from receive import receive

QUESTION = b"GET / HTTP/1.1\r\nHost: service\r\n\r\n"
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"

port, path = int(sys.argv[1]), sys.argv[2]


def ask(service):
    service.sendall(QUESTION)
    answer = b""
    while not answer.endswith(b"ok\n"):
        read = service.recv(4096)
        if not read:
            raise ConnectionError("the service has closed")
        answer += read


def serve(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with socket.socket(socket.AF_UNIX) as service:
        service.connect(path)
        while receive(connection):
            ask(service)
            connection.sendall(REPLY)


listener = socket.create_server(("0.0.0.0", port), backlog=128)
while True:
    connection, _ = listener.accept()
    threading.Thread(target=serve, args=(connection,), daemon=True).start()
