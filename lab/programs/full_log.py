"""A service beside the load whose log is on a disk without room, and which goes on trying to write it."""

import os
import sys
import time

LINE = b"x" * 4096
TRY_S = 0.005

log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT, 0o644)
print("trying", flush=True)
while True:
    try:
        os.pwrite(log, LINE, 0)
    except OSError:
        # Nobody reads what it would say of that.
        pass
    time.sleep(TRY_S)
