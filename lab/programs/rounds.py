"""A web server that accepts in rounds: it works on something else for 20 ms, and then takes and answers
whatever has connected meanwhile. So many connections may wait for that in its queue."""

import socket
import sys
import time

REPLY = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nok\n"
ROUND_S = 0.02

port, queue = (int(word) for word in sys.argv[1:3])
listener = socket.create_server(("127.0.0.1", port), backlog=queue)


def waiting():
    """The connections in the queue."""
    listener.setblocking(False)
    try:
        while True:
            yield listener.accept()[0]
    except BlockingIOError:
        return


def answer(connection):
    with connection:
        connection.settimeout(1)
        try:
            connection.recv(4096)
            connection.sendall(REPLY)
        except OSError:
            # Who looks whether somebody listens asks nothing.
            pass


while True:
    time.sleep(ROUND_S)
    for connection in list(waiting()):
        answer(connection)
