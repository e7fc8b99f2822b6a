"""A web server with a thread for each connection, each request of which is a transaction of SQLite, as in
programs that have their database in a library. Each thread has a database of its own, so that none waits
for another's."""

import os
import socket
import sqlite3
import sys
import threading

from receive import receive

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"

port, folder, synchronous = int(sys.argv[1]), sys.argv[2], sys.argv[3]


def answer(connection, number):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # Without a level of isolation each statement is a transaction.
    store = sqlite3.connect(os.path.join(folder, f"store-{number}"), isolation_level=None)
    store.execute(f"PRAGMA synchronous = {synchronous}")
    store.execute("CREATE TABLE IF NOT EXISTS note (line TEXT)")
    while receive(connection):
        store.execute("INSERT INTO note VALUES ('asked')")
        connection.sendall(REPLY)
    store.close()


listener = socket.create_server(("127.0.0.1", port), backlog=128)
number = 0
while True:
    connection, _ = listener.accept()
    number += 1
    threading.Thread(target=answer, args=(connection, number), daemon=True).start()
