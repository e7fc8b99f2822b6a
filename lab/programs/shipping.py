"""Reads a file through the page cache, some 10 MB per second, and again from its start, as a program does that
sends logs somewhere: it needs nothing of it twice."""

import sys
import time

PIECE = 64 << 10
PAUSE_S = 0.006

buffer = bytearray(PIECE)
with open(sys.argv[1], "rb", buffering=0) as file:
    print("reading", flush=True)
    while True:
        if not file.readinto(buffer):
            file.seek(0)
        time.sleep(PAUSE_S)
