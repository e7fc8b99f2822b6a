"""Opens so many connections to a web server, one after the other, asks once over each, and lets the server close it: what
is left of each stays with the kernel for a minute. It says so once it is done."""

import socket
import sys
import time

QUESTION = b"GET /nothing HTTP/1.1\r\nHost: lab\r\nConnection: close\r\n\r\n"

port, count = int(sys.argv[1]), int(sys.argv[2])
for _ in range(count):
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(QUESTION)
        while connection.recv(4096):
            pass
print("closed", flush=True)
time.sleep(600)
