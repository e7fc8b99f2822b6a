"""Answers at ports and at a unix socket, in a network namespace of its own: so many bytes for so many."""
import os
import signal
import socket
import threading

signal.alarm(120)
TCP = {7100: (100, 250), 7101: (500_000, 4)}
UDP = {9000: 50, 53: 60}
UNIX = (500, 80)


def take(connection, count):
    while count:
        got = len(connection.recv(min(count, 65536)))
        if not got:
            return False
        count -= got
    return True


def answer(connection, asked, answered):
    while take(connection, asked):
        connection.sendall(bytes(answered))
    connection.close()


def serve(listener, asked, answered):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection, asked, answered), daemon=True).start()


def serve_datagrams(port, answered):
    own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    own.bind(("0.0.0.0", port))
    while True:
        _, peer = own.recvfrom(65536)
        own.sendto(bytes(answered), peer)


def start(target, *arguments):
    threading.Thread(target=target, args=arguments, daemon=True).start()


for port, (asked, answered) in TCP.items():
    listener = socket.create_server(("0.0.0.0", port), backlog=1024)
    start(serve, listener, asked, answered)
for port, answered in UDP.items():
    start(serve_datagrams, port, answered)
listener = socket.socket(socket.AF_UNIX)
listener.bind("by-path")
listener.listen(64)
start(serve, listener, *UNIX)
with open("ready.new", "w") as ready:
    ready.write(str(os.getpid()))
os.rename("ready.new", "ready")
signal.pause()
