"""An application without a connection pool: each of its workers opens a session of MySQL's protocol,
asks something, keeps the session for a while and closes it. Refused, it says so and tries again."""

import argparse
import socket
import struct
import sys
import threading
import time

PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH = 0x200, 0x8000, 0x80000
UTF8 = 33
PING, QUIT = b"\x0e", b"\x01"
ERROR = 0xFF
RETRY_S = 0.1

options = argparse.ArgumentParser()
options.add_argument("--port", type=int, required=True)
options.add_argument("--user", required=True)
options.add_argument("--workers", type=int, default=30)
options.add_argument("--keep", type=float, default=0.2, help="s")
options.add_argument("--seconds", type=float, required=True)
options = options.parse_args()


class Refused(Exception):
    pass


def receive(connection, count):
    read = b""
    while len(read) < count:
        more = connection.recv(count - len(read))
        if not more:
            raise ConnectionError("the server has closed")
        read += more
    return read


def packet(connection):
    """The next packet; an error of the server is raised as one."""
    head = receive(connection, 4)
    body = receive(connection, int.from_bytes(head[:3], "little"))
    if body[0] == ERROR:
        code = struct.unpack_from("<H", body, 1)[0]
        # A state of SQL, of five letters behind a mark, is not always there.
        text = body[9:] if body[3:4] == b"#" else body[3:]
        raise Refused(f"ERROR {code}: {text.decode(errors='replace')}")
    return body


def send(connection, number, body):
    connection.sendall(len(body).to_bytes(3, "little") + bytes([number]) + body)


def session():
    with socket.create_connection(("127.0.0.1", options.port)) as connection:
        packet(connection)
        flags = PROTOCOL_41 | SECURE_CONNECTION | PLUGIN_AUTH
        hello = struct.pack("<IIB23x", flags, 1 << 24, UTF8)
        hello += options.user.encode() + b"\0\0mysql_native_password\0"
        send(connection, 1, hello)
        packet(connection)
        send(connection, 0, PING)
        packet(connection)
        time.sleep(options.keep)
        send(connection, 0, QUIT)


took = []


def work(end):
    asked = time.monotonic()
    while time.monotonic() < end:
        try:
            session()
        except (Refused, ConnectionError) as error:
            print(error, file=sys.stderr)
            time.sleep(RETRY_S)
            continue
        # With the time of all refused attempts: that is what the user of it waits.
        took.append(time.monotonic() - asked)
        asked = time.monotonic()


start = time.monotonic()
workers = [
    threading.Thread(target=work, args=(start + options.seconds,)) for _ in range(options.workers)
]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
seconds = time.monotonic() - start
mean_ms = sum(took) / len(took) * 1000
print(f"total: {seconds:.1f} s, {len(took) / seconds:.1f} tps, lat {mean_ms:.3f} ms")
