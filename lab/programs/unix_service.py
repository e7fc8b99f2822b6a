"""A service on a unix socket, with a thread for each connection, which takes so many us to answer."""

import socket
import sys
import threading
import time

from receive import receive

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"

path, sleep_s = sys.argv[1], int(sys.argv[2]) / 1e6


def answer(connection):
    with connection:
        while receive(connection):
            if sleep_s:
                time.sleep(sleep_s)
            connection.sendall(REPLY)


listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen(128)
print("listening", flush=True)
while True:
    connection, _ = listener.accept()
    threading.Thread(target=answer, args=(connection,), daemon=True).start()
