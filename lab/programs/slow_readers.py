"""Reads a large file from a web server over so many connections, far more slowly than the server could send it, as those do
who have a bad network: the buffers of each connection are full all the time."""

import socket
import sys
import time

PIECE = 2000
PAUSE_S = 0.01

port, path, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
connections = []
for _ in range(count):
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
    connection.connect(("127.0.0.1", port))
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: lab\r\n\r\n".encode())
    connections.append(connection)
time.sleep(0.5)
print("reading", flush=True)
while True:
    for connection in connections:
        connection.recv(PIECE)
        time.sleep(PAUSE_S)
