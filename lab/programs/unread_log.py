"""Receives the lines of a log over UDP, as a collector of logs does: it reads them (`reads`), or is busy with something
else and lets the kernel drop all that its small buffer has no room for (`leaves`). It says where it listens."""

import socket
import sys
import time

ROOM = 4096

receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, ROOM)
receiver.bind(("127.0.0.1", int(sys.argv[1])))
print("listening", flush=True)
while sys.argv[2] == "leaves":
    time.sleep(1)
while True:
    receiver.recv(8192)
