"""A program that has forgotten to close so many connections, which their clients have closed long ago."""

import resource
import signal
import socket
import struct
import sys

# Whoever ends with it leaves nothing behind in the kernel.
AT_ONCE = struct.pack("ii", 1, 0)

count = int(sys.argv[1])
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
listener = socket.create_server(("127.0.0.1", 0), backlog=128)
sockets = []
for _ in range(count):
    client = socket.create_connection(listener.getsockname())
    forgotten, _ = listener.accept()
    for side in (client, forgotten):
        side.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        sockets.append(side)
    client.shutdown(socket.SHUT_WR)
print("forgotten", flush=True)
signal.pause()
