"""A web server with a thread for each connection, which leaves the work of a request to a thread in the background. Who
waits for the result looks every 20 ms whether it is there (`looks`), or is woken by it (`woken`)."""

import queue
import socket
import sys
import threading
import time

from receive import receive

LOOK_S = 0.02
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"

port, looks = int(sys.argv[1]), sys.argv[2] == "looks"
jobs = queue.SimpleQueue()


def work():
    while True:
        jobs.get().set()


def finish(job):
    jobs.put(job)
    if not looks:
        job.wait()
    while not job.is_set():
        time.sleep(LOOK_S)


def answer(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while receive(connection):
        finish(threading.Event())
        connection.sendall(REPLY)


threading.Thread(target=work, daemon=True).start()
listener = socket.create_server(("127.0.0.1", port), backlog=128)
while True:
    connection, _ = listener.accept()
    threading.Thread(target=answer, args=(connection,), daemon=True).start()
