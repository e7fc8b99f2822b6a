"""Takes memory, a piece at a time, and gives it back when it has a lot, again and again."""

import mmap
import time

PIECE = 2 << 20
MOST = 1 << 30
PAUSE_S = 0.02

print("eating", flush=True)
while True:
    pieces = []
    while len(pieces) * PIECE < MOST:
        piece = mmap.mmap(-1, PIECE)
        for page in range(0, PIECE, mmap.PAGESIZE):
            piece[page] = 1
        pieces.append(piece)
        time.sleep(PAUSE_S)
