"""A web server with a thread for each connection, which keeps each tenant's data in a SQLite file of its own. A request
changes a row in a transaction, which SQLite makes safe by its rollback journal ("full") or leaves to the kernel ("off").

tenants.py PORT FOLDER full|off"""

import socket
import sqlite3
import sys
import threading

from receive import receive

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"

port, folder, safety = int(sys.argv[1]), sys.argv[2], sys.argv[3]


def answer(connection, number):
    store = sqlite3.connect(f"{folder}/tenant-{number}.db", isolation_level=None)
    store.execute(f"PRAGMA synchronous = {safety}")
    store.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, seen INTEGER)")
    store.execute("INSERT INTO item VALUES (1, 0)")
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while receive(connection):
            store.execute("UPDATE item SET seen = seen + 1 WHERE id = 1")
            connection.sendall(REPLY)


listener = socket.create_server(("0.0.0.0", port), backlog=128)
number = 0
while True:
    connection, _ = listener.accept()
    threading.Thread(target=answer, args=(connection, number), daemon=True).start()
    number += 1
