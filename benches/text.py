"""Parsing a Matrix Market file of 200 MB, beside `scipy.io.mmread`.

    python3 benches/text.py TENFOLD

with SciPy installed. TENFOLD is the command; `info` parses all of a text, as its cells have to be found. Where the
machine is busy, `chrt -r 1` before it lets both run before the others.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy
from scipy.io import mmread

ENTRIES = 6_000_000
ROUNDS = 5


def make(path):
    source = numpy.random.default_rng(0)
    rows, columns = source.integers(1, 1_000_001, (2, ENTRIES))
    values = source.standard_normal(ENTRIES)
    with path.open("w") as file:
        file.write(f"%%MatrixMarket matrix coordinate real general\n1000000 1000000 {ENTRIES}\n")
        for start in range(0, ENTRIES, 100_000):
            part = slice(start, start + 100_000)
            cells = zip(rows[part].tolist(), columns[part].tolist(), values[part].tolist())
            file.write("".join(f"{row} {column} {value!r}\n" for row, column, value in cells))


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main():
    command = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.mtx"
        make(path)
        length = path.stat().st_size

        def ours():
            ran = subprocess.run([command, "info", "--json", str(path)], check=True, capture_output=True)
            assert json.loads(ran.stdout)

        programs = {"scipy.io.mmread": lambda: mmread(path), "tenfold info": ours}
        taken = {name: [] for name in programs}
        for _ in range(ROUNDS):
            for name, work in programs.items():
                taken[name].append(seconds(work))
    print(f"| {length / 1e6:.0f} MB parsed | median | best | MB/s by median | by best |\n|---|---:|---:|---:|---:|")
    for name, times in taken.items():
        median, best = statistics.median(times), min(times)
        print(f"| {name} | {median:.2f} s | {best:.2f} s | {length / median / 1e6:.0f} | {length / best / 1e6:.0f} |")


if __name__ == "__main__":
    main()
