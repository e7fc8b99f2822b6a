"""Reads a file from its beginning to its end, again and again, as a batch does whose input does not fit
into the memory that it may use. Between blocks it rests, so that it takes little of the CPUs."""

import os
import sys
import time

BLOCK = 1 << 18
REST_S = 0.002

file = os.open(sys.argv[1], os.O_RDONLY)
while True:
    at = 0
    while block := os.pread(file, BLOCK, at):
        at += len(block)
        time.sleep(REST_S)
