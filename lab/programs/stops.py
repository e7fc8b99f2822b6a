"""Stops a process for 40 of every 50 ms, as a tool does that copies its memory again and again."""

import os
import signal
import sys
import time

STOPPED_S = 0.04
RUNNING_S = 0.01

process = int(sys.argv[1])
try:
    while True:
        os.kill(process, signal.SIGSTOP)
        time.sleep(STOPPED_S)
        os.kill(process, signal.SIGCONT)
        time.sleep(RUNNING_S)
except ProcessLookupError:
    # It has ended, and so does this.
    pass
