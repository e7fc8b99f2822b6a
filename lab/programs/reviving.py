"""A web server of one worker process, which the first process starts again whenever it has ended. A worker
loads for a while before it serves, with a thread for each connection, and a request waits for a
millisecond. The worker may keep some memory with each, as one does whose cache nobody empties."""

import ctypes
import os
import signal
import socket
import sys
import threading
import time

from receive import receive

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"
LOAD_S = 0.5
WAIT_S = 0.001
PIECE = 256 << 10
# From <linux/prctl.h>.
PR_SET_PDEATHSIG = 1

port, keeps = int(sys.argv[1]), sys.argv[2] == "keeps"
kept = []


def answer(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while receive(connection):
        piece = b"x" * PIECE
        if keeps:
            kept.append(piece)
        time.sleep(WAIT_S)
        connection.sendall(REPLY)


def work(listener):
    # Nobody else would end it.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    time.sleep(LOAD_S)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection,), daemon=True).start()


listener = socket.create_server(("127.0.0.1", port), backlog=128)
while True:
    worker = os.fork()
    if worker == 0:
        work(listener)
    os.waitpid(worker, 0)
