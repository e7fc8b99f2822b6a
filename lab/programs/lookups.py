"""A web server with a thread for each connection, each request of which looks up some rows of a SQLite database by their
key. The file is left to the page cache: each connection keeps next to nothing of it by itself."""

import random
import socket
import sqlite3
import sys
import threading

from receive import receive

LOOKUPS = 16
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"

port, file, rows = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])


def answer(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    store = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    store.execute("PRAGMA cache_size = 16")
    while receive(connection):
        for _ in range(LOOKUPS):
            key = (random.randrange(rows) + 1,)
            store.execute("SELECT text FROM item WHERE id = ?", key).fetchone()
        connection.sendall(REPLY)
    store.close()


listener = socket.create_server(("127.0.0.1", port), backlog=128)
while True:
    connection, _ = listener.accept()
    threading.Thread(target=answer, args=(connection,), daemon=True).start()
