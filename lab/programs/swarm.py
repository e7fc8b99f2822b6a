"""A load generator of one process, as those are that are written in Python: many users, each of which asks a web server
over its own connection and thinks for a moment. One thread at a time works for all of them. With `library` a request is
made by the library for HTTP, which is comfortable and costs a lot, and its answer is read as JSON; with `plain` it is
sent and received as it is."""

import asyncio
import email.parser
import json
import sys
import time
import urllib.parse

port, users, seconds, way = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
PLAIN = b"GET /item.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
LAYERS = 8
THINK_S = 0.002
END_OF_HEAD = b"\r\n\r\n"
took = []


def comfortable(count):
    """A head as libraries put it together, from an address, parameters and what the session knows."""
    query = urllib.parse.urlencode({"user": count, "page": count % 7, "sort": "name", "of": "swarm"})
    url = urllib.parse.urlsplit(f"http://127.0.0.1:{port}/item.json?{query}")
    fields = {
        "Host": url.netloc,
        "User-Agent": "swarm",
        "Accept-Encoding": "identity",
        "Accept": "*/*",
        "Connection": "keep-alive",
        "Cookie": "; ".join(f"field{number}={count + number}" for number in range(8)),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"GET {url.path}?{url.query} HTTP/1.1\r\n{head}\r\n".encode("iso-8859-1")


def understand(head, body):
    _, _, fields = head.decode("iso-8859-1").partition("\r\n")
    for _ in range(LAYERS):
        # Adapters, sessions, cookies, hooks and statistics each look at what has come.
        email.parser.Parser().parsestr(fields, headersonly=True)
        json.loads(body)


async def ask(reader, writer, count):
    writer.write(comfortable(count) if way == "library" else PLAIN)
    head = await reader.readuntil(END_OF_HEAD)
    _, _, rest = head.lower().partition(b"content-length: ")
    body = await reader.readexactly(int(rest.split(b"\r\n")[0]))
    if way == "library":
        understand(head, body)


async def user(end):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    count = 0
    while time.monotonic() < end:
        asked = time.monotonic()
        await ask(reader, writer, count)
        took.append(time.monotonic() - asked)
        count += 1
        await asyncio.sleep(THINK_S)
    writer.close()


async def main():
    end = time.monotonic() + seconds
    await asyncio.gather(*(user(end) for _ in range(users)))


start = time.monotonic()
asyncio.run(main())
passed = time.monotonic() - start
mean_ms = sum(took) / len(took) * 1000
p99_ms = sorted(took)[len(took) * 99 // 100] * 1000
print(f"total: {passed:.1f} s, {len(took) / passed:.1f} tps, lat {mean_ms:.3f} ms, p99 {p99_ms:.3f} ms")
