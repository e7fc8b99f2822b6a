"""A web server with a thread per connection, each request of which computes in Python, in one process or
in several: threads of one process compute one at a time, whatever the number of CPUs."""

import os
import socket
import sys
import threading

from receive import receive

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"

port, processes, rounds = (int(word) for word in sys.argv[1:4])


def answer(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while receive(connection):
        total = 0
        for number in range(rounds):
            total += number * number
        connection.sendall(REPLY)


def serve(listener):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection,), daemon=True).start()


listener = socket.create_server(("127.0.0.1", port), backlog=128)
for _ in range(processes - 1):
    if os.fork() == 0:
        break
serve(listener)
