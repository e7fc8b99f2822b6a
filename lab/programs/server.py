"""A web server as Python services often are: one thread waits for connections, and a pool of
workers answers. What a request costs is chosen: a sleep, a lock, a service or a name that is asked
for. With no workers the first thread answers by itself."""

import argparse
import concurrent.futures
import selectors
import socket
import struct
import threading
import time

from receive import receive

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"

options = argparse.ArgumentParser()
options.add_argument("--port", type=int, required=True)
options.add_argument("--workers", type=int, default=8)
options.add_argument("--sleep-us", type=int, default=0)
options.add_argument("--compute-us", type=int, default=0)
options.add_argument("--service")
options.add_argument("--names")
options = options.parse_args()

of_thread = threading.local()


def address(text):
    host, port = text.rsplit(":", 1)
    return host, int(port)


def ask_service():
    if not hasattr(of_thread, "service"):
        of_thread.service = socket.create_connection(address(options.service))
        of_thread.service.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    of_thread.service.sendall(b"GET / HTTP/1.1\r\nHost: service\r\n\r\n")
    read = b""
    while not read.endswith(b"ok\n"):
        read += of_thread.service.recv(4096)


def ask_name():
    if not hasattr(of_thread, "names"):
        of_thread.names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        of_thread.names.connect(address(options.names))
    # A question for one address of example.com, as RFC 1035 has it.
    head = struct.pack(">HHHHHH", 1, 0x0100, 1, 0, 0, 0)
    of_thread.names.send(head + b"\x07example\x03com\x00" + struct.pack(">HH", 1, 1))
    of_thread.names.recv(512)


def compute(us):
    end = time.thread_time_ns() + us * 1000
    while time.thread_time_ns() < end:
        pass


def answer(connection):
    """Answers one request; False when the other side has closed."""
    if not receive(connection):
        return False
    if options.sleep_us:
        time.sleep(options.sleep_us / 1e6)
    if options.service:
        ask_service()
    if options.names:
        ask_name()
    compute(options.compute_us)
    connection.sendall(REPLY)
    return True


class Loop:
    def __init__(self):
        self.selector = selectors.DefaultSelector()
        self.answered = []
        self.woken, self.wake = socket.socketpair()
        self.listener = socket.create_server(("127.0.0.1", options.port), backlog=128)
        self.selector.register(self.woken, selectors.EVENT_READ)
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.pool = None
        if options.workers:
            self.pool = concurrent.futures.ThreadPoolExecutor(options.workers)

    def run(self):
        while True:
            for key, _ in self.selector.select():
                self.ready(key.fileobj)

    def ready(self, source):
        if source is self.listener:
            connection, _ = self.listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.selector.register(connection, selectors.EVENT_READ)
        elif source is self.woken:
            self.woken.recv(4096)
            while self.answered:
                self.selector.register(self.answered.pop(), selectors.EVENT_READ)
        else:
            self.selector.unregister(source)
            if self.pool:
                self.pool.submit(self.work, source)
            elif answer(source):
                self.selector.register(source, selectors.EVENT_READ)
            else:
                source.close()

    def work(self, connection):
        if answer(connection):
            self.answered.append(connection)
            self.wake.send(b".")
        else:
            connection.close()


Loop().run()
