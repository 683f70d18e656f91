"""A peer of one job, answering lines: `peer.py JOB NAME WORDS…`.

`PEERS` in `jobs/JOB.py` has it by name: a function of the words that prepares and gives what answers a line, with the
seconds and what was seen.
"""

import importlib
import sys
import time


def timed(work):
    """Seconds that something takes, and what it gives."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def main():
    job, name, *words = sys.argv[1:]
    answer = importlib.import_module(f"jobs.{job}").PEERS[name](*words)
    print("ready", flush=True)
    for line in sys.stdin:
        print(*answer(*line.split()), flush=True)


if __name__ == "__main__":
    main()
