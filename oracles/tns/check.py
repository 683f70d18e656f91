"""Compares tenfold with a reader and a writer of FROSTT's text in a few lines of Python, both ways and bit for bit.

FROSTT has no program of its own; the lines below follow its page, and MLIR's two lines of sizes. What they write of
random bits, in any order, with comments and either header, tenfold turns into the same array; what tenfold writes of
such arrays, they read with the same bits (of a NaN, that it is one).
"""

import gzip
import itertools
import math
import struct
import tempfile
from pathlib import Path

import numpy

from shared import tenfold


def write(path, shape, cells, header, source):
    """Cells in random order; `header` says whether the sizes come first."""
    lines = ["# extended FROSTT format", f"{len(shape)} {len(cells)}", " ".join(map(str, shape))] if header else ["# a test"]
    entries = [" ".join(str(index + 1) for index in at) + f" {value!r}" for at, value in cells.items()]
    source.shuffle(entries)
    text = "\n".join(lines + list(entries)) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


def read(path, header):
    """The sizes, as far as the file says them, and the cells."""
    lines = [line.split() for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    shape = None
    if header:
        (rank, count), sizes, *lines = lines
        shape = tuple(map(int, sizes))
        assert (int(rank), int(count)) == (len(shape), len(lines))
    cells = {tuple(int(index) - 1 for index in line[:-1]): float(line[-1].split("(")[0]) for line in lines}
    assert len(cells) == len(lines)
    return shape, cells


def bits(cells):
    """The bits of values, where all NaNs are one."""
    return {at: struct.pack("<d", math.nan if value != value else value) for at, value in cells.items()}


def random_cells(source, shape):
    """Random bits at some places, also at the last, so that the largest indices give the sizes."""
    count = math.prod(shape)
    places = set(source.choice(count, max(1, count // 3), replace=False).tolist()) | {count - 1}
    values = source.integers(0, 256, 8 * len(places), dtype=numpy.uint8).view("f8").tolist()
    values[:3] = [math.nan, -0.0, 0.0][: len(values)]
    return {tuple(int(index) for index in numpy.unravel_index(place, shape)): value for place, value in zip(sorted(places), values)}


def main():
    source = numpy.random.default_rng(5)
    shapes = [(1,), (50,), (7, 9), (1, 4), (3, 4, 5), (2, 3, 4, 5), (2, 1, 3, 2, 2), (2,) * 9]
    quiet = ("--force", "--no-sync", "--quiet")
    n_theirs = n_ours = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        ours, array = folder / "ours.tns", folder / "array.npy"
        for shape, header, suffix in itertools.product(shapes, (False, True), (".tns", ".tns.gz")):
            theirs = folder / f"theirs{suffix}"
            cells = random_cells(source, shape)
            write(theirs, shape, cells, header, source)
            tenfold("convert", str(theirs), str(array), *quiet)
            dense = numpy.zeros(shape)
            for at, value in cells.items():
                dense[at] = value
            found = numpy.load(array)
            assert found.shape == shape
            assert bits(dict(numpy.ndenumerate(found))) == bits(dict(numpy.ndenumerate(dense))), (shape, header)
            n_theirs += 1
            for opt in ("none", "extended"):
                tenfold("convert", str(theirs), str(ours), "--opt", f"header={opt}", *quiet)
                sizes, again = read(ours, opt == "extended")
                assert sizes in (None, shape) and bits(again) == bits(cells), (shape, header, opt)
                assert list(again) == sorted(again)
                # What is not zero of the dense array, a negative zero included.
                tenfold("convert", str(array), str(ours), "--sparse", "--opt", f"header={opt}", *quiet)
                wanted = {at: value for at, value in bits(cells).items() if value != bytes(8)}
                assert bits(read(ours, opt == "extended")[1]) == wanted
                n_ours += 2
    print(f"tns: {n_theirs} files of theirs, {n_ours} files of tenfold")


if __name__ == "__main__":
    main()
