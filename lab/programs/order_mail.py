"""A web service with a thread for each connection, each request of which writes an order, its lines and a note for the books to
files of its thread and has the disk keep each (`sync`) or not (`later`), and then asks a mail server to send a mail and waits
for its answer."""

import os
import socket
import sys
import threading

from receive import receive

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"
ORDER = b"one of these, please\n" * 10

port, folder, mail, word = sys.argv[1:]
host, mail_port = mail.rsplit(":", 1)


def send_mail(server):
    server.sendall(b"GET / HTTP/1.1\r\nHost: mail\r\n\r\n")
    read = b""
    while not read.endswith(b"ok\n"):
        read += server.recv(4096)


def opened(name):
    return os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)


def answer(connection, number):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    files = [opened(f"{kind}-{number}") for kind in ("orders", "lines", "books")]
    server = socket.create_connection((host, int(mail_port)))
    server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while receive(connection):
        for file in files:
            os.write(file, ORDER)
            if word == "sync":
                os.fsync(file)
        send_mail(server)
        connection.sendall(REPLY)


listener = socket.create_server(("127.0.0.1", int(port)), backlog=128)
count = 0
while True:
    connection, _ = listener.accept()
    count += 1
    threading.Thread(target=answer, args=(connection, count), daemon=True).start()
