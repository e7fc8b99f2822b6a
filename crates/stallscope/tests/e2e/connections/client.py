"""Asks the server, and notes what it sent and received by its own count and by the kernel's (tcp_info)."""
import json
import os
import signal
import socket
import struct
import subprocess
import time

signal.alarm(120)
PEER = "10.99.0.2"
truth = {}


def take(connection, count):
    while count:
        got = len(connection.recv(min(count, 65536)))
        assert got
        count -= got


def tcp_info(connection):
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)
    acknowledged, received = struct.unpack_from("QQ", info, 120)
    sent, again = struct.unpack_from("QQ", info, 200)
    segments_again, = struct.unpack_from("I", info, 100)
    # Of what is acknowledged the first byte is the connection itself.
    return {
        "sent": sent - again,
        "acknowledged": acknowledged - 1,
        "received": received,
        "retransmitted": segments_again,
    }


def ask(port, count, asked, answered):
    kernel = {}
    for _ in range(count):
        with socket.create_connection((PEER, port)) as connection:
            connection.sendall(bytes(asked))
            take(connection, answered)
            for name, value in tcp_info(connection).items():
                kernel[name] = kernel.get(name, 0) + value
    truth[f"tcp:{port}"] = {"sent": count * asked, "received": count * answered, "kernel": kernel}


def ask_by_datagrams(port, count, asked, answered):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.connect((PEER, port))
        for _ in range(count):
            own.send(bytes(asked))
            assert len(own.recv(65536)) == answered
    truth[f"udp:{port}"] = {"sends": count, "sent": count * asked, "received": count * answered}


def refused(port, count):
    for _ in range(count):
        try:
            socket.create_connection((PEER, port))
            raise SystemExit("somebody listens")
        except ConnectionRefusedError:
            pass


def ask_by_path(count, asked, answered):
    for _ in range(count):
        with socket.socket(socket.AF_UNIX) as own:
            own.connect("by-path")
            own.sendall(bytes(asked))
            take(own, answered)


def forking_server(listener):
    while True:
        connection, _ = listener.accept()
        if not os.fork():
            while connection.recv(10):
                connection.send(bytes(20))
            os._exit(0)
        connection.close()


def crowd(port, count):
    """A process for each connection at either end, over loopback, all of them open for a while."""
    listener = socket.create_server(("127.0.0.1", port), backlog=64)
    server = os.fork()
    if not server:
        forking_server(listener)
    listener.close()
    children = []
    for _ in range(count):
        children.append(os.fork())
        if not children[-1]:
            with socket.create_connection(("127.0.0.1", port)) as own:
                for _ in range(8):
                    own.sendall(bytes(10))
                    take(own, 20)
                    time.sleep(0.1)
            os._exit(0)
    for child in children:
        os.waitpid(child, 0)
    os.kill(server, signal.SIGKILL)


ask(7100, 1000, 100, 250)
refused(7199, 5)
ask_by_datagrams(9000, 200, 111, 50)
ask_by_datagrams(53, 20, 40, 60)
ask_by_path(10, 500, 80)
crowd(7200, 26)
# A queue that is too short for what is sent: the kernel sends again what was dropped there.
subprocess.run("tc qdisc add dev v0 root tbf rate 40mbit burst 6000 limit 9000".split(), check=True)
ask(7101, 1, 500_000, 4)
with open("truth.json", "w") as file:
    json.dump(truth, file)
os.kill(int(open("ready").read()), signal.SIGTERM)
