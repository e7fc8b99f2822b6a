"""Somebody else's receiver of datagrams that takes so few of them that its buffer is always full, and a sender that sends
far more: the kernel drops what does not fit."""

import socket
import sys
import time

count, pause = int(sys.argv[1]), 0.02
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
receiver.bind(("127.0.0.1", 0))
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.connect(receiver.getsockname())
print("sending", flush=True)
while True:
    for _ in range(count):
        sender.send(b"requests:1|c")
    receiver.recv(64)
    time.sleep(pause)
