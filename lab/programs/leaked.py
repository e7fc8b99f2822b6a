"""A program of somebody else's that opens connections to a cache and forgets to close them: so many by now. It says so
once it has them."""

import signal
import socket
import sys

port, count = int(sys.argv[1]), int(sys.argv[2])
leaked = [socket.create_connection(("127.0.0.1", port)) for _ in range(count)]
print("leaked", flush=True)
signal.pause()
