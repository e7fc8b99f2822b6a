"""A web server with a thread for each connection, whose page is a list: it asks a store in Redis's protocol for each of its
rows by a question of its own and waits for each answer, as objects do that load what belongs to them when it is used, or
for all of them by one question.

rows.py PORT STORE each|once"""

import socket
import sys
import threading

from receive import receive

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"
ROWS = 20
# What is not there is an answer too: five bytes for each.
NOTHING = 5

port, store, word = int(sys.argv[1]), sys.argv[2], sys.argv[3]
host, store_port = store.rsplit(":", 1)


def ask(connection, text, length):
    connection.sendall(text)
    left = length
    while left:
        left -= len(connection.recv(left))


def page(connection):
    if word == "each":
        for row in range(ROWS):
            ask(connection, b"GET customer:%d\r\n" % row, NOTHING)
    else:
        keys = b" ".join(b"customer:%d" % row for row in range(ROWS))
        ask(connection, b"MGET " + keys + b"\r\n", len(b"*%d\r\n" % ROWS) + ROWS * NOTHING)


def answer(client):
    with client, socket.create_connection((host, int(store_port))) as connection:
        for each in (client, connection):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while receive(client):
            page(connection)
            client.sendall(REPLY)


listener = socket.create_server(("127.0.0.1", port), backlog=128)
while True:
    client, _ = listener.accept()
    threading.Thread(target=answer, args=(client,), daemon=True).start()
