"""Opens so many connections to a port, and does nothing with them."""

import signal
import socket
import sys

port, count = map(int, sys.argv[1:])
connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(count)]
print("connected", flush=True)
signal.pause()
