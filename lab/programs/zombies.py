"""Starts so many processes, which end at once, and waits for none of them until it is itself asked to end."""

import os
import signal
import sys


def end(*_):
    # Who takes over the children of the dead may wait for nobody.
    for child in children:
        os.waitpid(child, 0)
    sys.exit()


children = []
for _ in range(int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        os._exit(0)
    children.append(child)
signal.signal(signal.SIGTERM, end)
print("ended", flush=True)
while True:
    signal.pause()
