"""A program that keeps setting keys of memcached: always new ones ("new"), so that others must go once there is no room,
or the same one ("same"). It says so once there has been time for the memory to be full."""

import socket
import sys
import time

FIRST = 4000
PAUSE_S = 0.01
VALUE = b"x" * 4000

port, word = int(sys.argv[1]), sys.argv[2]
connection = socket.create_connection(("127.0.0.1", port))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def put(number):
    key = number if word == "new" else 0
    connection.sendall(b"set other%d 0 0 %d\r\n%s\r\n" % (key, len(VALUE), VALUE))
    connection.recv(64)


for number in range(FIRST):
    put(number)
print("full", flush=True)
try:
    while True:
        number += 1
        put(number)
        time.sleep(PAUSE_S)
except ConnectionError:
    # Nobody is there any more.
    pass
