"""Parsing 200 MB of Matrix Market's text, beside `scipy.io.mmread`, of FROSTT's, and of an FCIDUMP.

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
ORBITALS = 83
ROUNDS = 5


def make(path, header, largest):
    """Entries whose indices go up to these, in no order."""
    source = numpy.random.default_rng(0)
    indices = [source.integers(1, most + 1, ENTRIES) for most in largest]
    values = source.standard_normal(ENTRIES)
    with path.open("w") as file:
        file.write(header)
        for start in range(0, ENTRIES, 100_000):
            part = slice(start, start + 100_000)
            cells = zip(*(numbers[part].tolist() for numbers in (*indices, values)))
            file.write("".join(" ".join(map(repr, cell)) + "\n" for cell in cells))


def make_integrals(path):
    """All distinct integrals over so many orbitals, some six million."""
    source = numpy.random.default_rng(0)
    pairs = [(i, j) for i in range(1, ORBITALS + 1) for j in range(1, i + 1)]
    with path.open("w") as file:
        file.write(f"&FCI NORB={ORBITALS},NELEC=2,MS2=0,\n  ORBSYM={'1,' * ORBITALS}\n  ISYM=1,\n&END\n")
        for place, (i, j) in enumerate(pairs):
            values = source.standard_normal(place + 1).tolist()
            file.write("".join(f"{value!r} {i} {j} {k} {l}\n" for value, (k, l) in zip(values, pairs)))


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main():
    command = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        matrix, tensor, integrals = (Path(folder) / name for name in ("large.mtx", "large.tns", "FCIDUMP"))
        make(matrix, f"%%MatrixMarket matrix coordinate real general\n1000000 1000000 {ENTRIES}\n", (1_000_000, 1_000_000))
        make(tensor, "", (30_000, 40_000, 200))
        make_integrals(integrals)

        def ours(path):
            ran = subprocess.run([command, "info", "--json", str(path)], check=True, capture_output=True)
            assert json.loads(ran.stdout)

        programs = {
            "scipy.io.mmread, mtx": (matrix, mmread),
            "tenfold info, mtx": (matrix, ours),
            "tenfold info, tns": (tensor, ours),
            "tenfold info, FCIDUMP": (integrals, ours),
        }
        lengths = {name: path.stat().st_size for name, (path, _) in programs.items()}
        taken = {name: [] for name in programs}
        for _ in range(ROUNDS):
            for name, (path, work) in programs.items():
                taken[name].append(seconds(lambda: work(path)))
    print("| parsed | MB | median | best | MB/s by median | by best |\n|---|---:|---:|---:|---:|---:|")
    for name, times in taken.items():
        median, best, length = statistics.median(times), min(times), lengths[name] / 1e6
        print(f"| {name} | {length:.0f} | {median:.2f} s | {best:.2f} s | {length / median:.0f} | {length / best:.0f} |")


if __name__ == "__main__":
    main()
