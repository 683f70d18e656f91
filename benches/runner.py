"""Runs programs for the harness and says how long they took and how much memory they had.

A process that is begun counts the memory of whoever began it as its own until it is its own program. This one
is small, and stays so.
"""

import json
import os
import subprocess
import sys
import time

for line in sys.stdin:
    begun = time.perf_counter()
    process = subprocess.Popen(json.loads(line), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    print(json.dumps([time.perf_counter() - begun, usage.ru_maxrss * 1024, status]), flush=True)
