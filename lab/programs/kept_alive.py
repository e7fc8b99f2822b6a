"""Opens so many connections to a web server, asks once over each, and keeps all of them for a next question that never
comes, as browsers and pools of connections do."""

import signal
import socket
import sys

QUESTION = b"GET / HTTP/1.1\r\nHost: lab\r\n\r\n"

port, count = map(int, sys.argv[1:])
connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(count)]
for connection in connections:
    connection.sendall(QUESTION)
    connection.recv(4096)
print("kept", flush=True)
signal.pause()
