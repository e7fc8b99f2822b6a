"""Reads a file past the page cache in large pieces, several at a time, again and again, as a backup of a
whole disk does. How large these are and how many at a time may be said after the file."""

import mmap
import os
import sys
import threading

PIECE, READERS = (int(word) for word in sys.argv[2:4] or (4 << 20, 4))


def read(path, number):
    file = os.open(path, os.O_RDONLY | os.O_DIRECT)
    # Begins with a page, as reads past the page cache want it.
    buffer = mmap.mmap(-1, PIECE)
    pieces = os.fstat(file).st_size // PIECE
    at = number * pieces // READERS
    while True:
        os.preadv(file, [buffer], at % pieces * PIECE)
        at += 1


for number in range(READERS):
    threading.Thread(target=read, args=(sys.argv[1], number)).start()
print("reading", flush=True)
