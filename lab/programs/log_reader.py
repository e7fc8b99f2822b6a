"""What a web server writes its log to: a program that takes so many us over each 4 KiB of it, as one does
that sends them somewhere."""

import os
import sys
import time

SIZE = 4096

pause_s = int(sys.argv[1]) / 1e6
while os.read(0, SIZE):
    time.sleep(pause_s)
