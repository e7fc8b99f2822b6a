"""A service that has stopped accepting, and clients that go on trying: their connections find its queue
full, and the kernel counts that for the whole machine."""

import socket
import time

CLIENTS = 40
TRY_S = 0.2

listener = socket.create_server(("127.0.0.1", 0), backlog=1)
print("listening", flush=True)


def attempt():
    client = socket.socket()
    client.setblocking(False)
    client.connect_ex(listener.getsockname())
    return client


while True:
    clients = [attempt() for _ in range(CLIENTS)]
    time.sleep(TRY_S)
    for client in clients:
        client.close()
