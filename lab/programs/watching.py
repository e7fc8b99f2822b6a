"""Visitors who have a page open that waits for news: each has a connection with a request that is answered when there is
some, which is never. Says so once they are there."""

import signal
import socket
import sys
import time

port, count = int(sys.argv[1]), int(sys.argv[2])
open_pages = []
for _ in range(count):
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(b"GET /news HTTP/1.1\r\nHost: lab\r\n\r\n")
    open_pages.append(connection)
# The server has to ask the service behind it for each.
time.sleep(0.5)
print("watching", flush=True)
signal.pause()
