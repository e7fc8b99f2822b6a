"""Opens so many connections to a web server, or to another one with what it is to be told, one after the other, asks once over
each, and lets the server close it: what is left of each stays with the kernel for a minute. It says so once it is done."""

import socket
import sys
import time

QUESTION = b"GET /nothing HTTP/1.1\r\nHost: lab\r\nConnection: close\r\n\r\n"

port, count = int(sys.argv[1]), int(sys.argv[2])
question = f"{sys.argv[3]}\r\n".encode() if len(sys.argv) > 3 else QUESTION
for _ in range(count):
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(question)
        while connection.recv(4096):
            pass
print("closed", flush=True)
time.sleep(600)
