"""Opens so many sessions of MySQL's protocol, asks something over each once, and lets them sleep, as pools of connections do.
It says so once it has them."""

import signal
import socket
import struct
import sys

FLAGS = 0x200 | 0x8000 | 0x80000
UTF8 = 33
PING = b"\x0e"

port, count = map(int, sys.argv[1:])


def receive(connection, length):
    read = b""
    while len(read) < length:
        more = connection.recv(length - len(read))
        if not more:
            sys.exit("the server has closed")
        read += more
    return read


def packet(connection):
    head = receive(connection, 4)
    body = receive(connection, int.from_bytes(head[:3], "little"))
    if body[0] == 0xFF:
        sys.exit(body[3:].decode(errors="replace"))


def send(connection, number, body):
    connection.sendall(len(body).to_bytes(3, "little") + bytes([number]) + body)


def session():
    connection = socket.create_connection(("127.0.0.1", port))
    packet(connection)
    hello = struct.pack("<IIB23x", FLAGS, 1 << 24, UTF8) + b"root\0\0mysql_native_password\0"
    send(connection, 1, hello)
    packet(connection)
    send(connection, 0, PING)
    packet(connection)
    return connection


sessions = [session() for _ in range(count)]
print("asleep", flush=True)
signal.pause()
