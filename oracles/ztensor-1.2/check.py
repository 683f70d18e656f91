"""Compares tenfold with the reference implementation of zTensor 1.2, both ways: what that writes, tenfold shows
with the same bits, rewrites with the same bytes, and brings to version 2; what tenfold writes as 1.2 and as 0.1, that
reads, wherever the values come from."""

import os
import struct
import sys
import tempfile

import numpy
import ztensor

from shared import tenfold
from ztensor_arrays import check_cells, check_migration, check_reading, tensors

# How the reference is asked to write.
WAYS = [(None, "none"), (None, "crc32c"), (3, "sha256"), (19, "crc32c")]


# How tenfold is asked to write 1.2.
OPTIONS = [[], ["checksum=crc32c"], ["checksum=sha256", "compress=zstd"], ["compress=zstd", "level=19"]]


def check_writing(path, arrays):
    """The reference reads what tenfold wrote."""
    with ztensor.Reader(path) as reader:
        for name, array in arrays.items():
            found = reader.read_numpy(name, copy=True)
            assert found.dtype == array.dtype and found.tobytes() == array.tobytes(), name


def check_rewriting(path, folder):
    """Raw files are rewritten byte for byte."""
    again = os.path.join(folder, "again.zt")
    tenfold("convert", path, again, "--force")
    with open(path, "rb") as first, open(again, "rb") as second:
        assert first.read() == second.read(), path


def check_big_endian(folder):
    """Values of big-endian files are little-endian in ours: the reference never looks at the byte order."""
    npy, tbf, zt = (os.path.join(folder, name) for name in ("big.npy", "vector.tbf", "big.zt"))
    array = numpy.arange(7, dtype=">f4")
    numpy.save(npy, array)
    values = [0.5, -2.0, 3.25]
    with open(tbf, "wb") as file:  # tag 6, f32, one dimension x[3]
        file.write(b"\x06\x01\x01\x01x\x03" + struct.pack(">3f", *values))
    for source, wanted in [(npy, array), (tbf, numpy.array(values))]:
        for version in ("ztensor@0.1", "ztensor@1.2"):
            tenfold("convert", source, zt, "--to", version, "--force")
            with ztensor.Reader(zt) as reader:
                found = reader.read_numpy(list(reader.keys())[0], copy=True)
            assert found.tolist() == wanted.tolist(), (source, version, found)


def check_sparse(folder):
    """Sparse cells are dense values in 0.1, which has no sparse layout that anything reads."""
    mtx, zt = (os.path.join(folder, name) for name in ("cells.mtx", "cells.zt"))
    with open(mtx, "w") as file:
        file.write("%%MatrixMarket matrix coordinate real general\n3 4 2\n1 2 5\n3 4 -7\n")
    wanted = numpy.zeros((3, 4))
    wanted[0, 1], wanted[2, 3] = 5, -7
    tenfold("convert", mtx, zt)
    with ztensor.Reader(zt) as reader:
        assert numpy.array_equal(reader.read_numpy("cells", copy=True), wanted)
    check_cells(zt, ["cells"], {(0, 1): 5, (2, 3): -7})
    tenfold("convert", mtx, zt, "--to", "ztensor@1.2", "--force")
    with ztensor.Reader(zt) as reader:
        tensor = reader.read("cells")
        assert tensor.format == "sparse_coo" and tuple(tensor.shape) == (3, 4), tensor
        parts = {name: numpy.asarray(part) for name, part in tensor.components.items()}
        assert parts["values"].tolist() == [5, -7] and parts["coords"].tolist() == [0, 2, 1, 3], parts


def main():
    arrays = {name: array for name, array in tensors().items() if array.size > 0}
    with tempfile.TemporaryDirectory() as folder:
        for number, (compress, checksum) in enumerate(WAYS):
            path = os.path.join(folder, f"theirs{number}.zt")
            with ztensor.Writer(path) as writer:
                for name, array in arrays.items():
                    writer.add(name, array, compress=compress, checksum=checksum)
            check_reading(path, arrays, in_order=False)
            check_migration(path, arrays)
            if compress is None:
                check_rewriting(path, folder)
        ours = os.path.join(folder, "ours.zt")
        tenfold("convert", path, ours, "--to", "ztensor@0.1")
        check_writing(ours, arrays)
        for options in OPTIONS:
            flags = [word for option in options for word in ("--opt", option)]
            tenfold("convert", ours, path, "--to", "ztensor@1.2", "--force", *flags)
            check_writing(path, arrays)
            check_reading(path, arrays, in_order=False)
        check_big_endian(folder)
        check_sparse(folder)
    ways = len(WAYS) + len(OPTIONS)
    print(f"{len(arrays)} tensors, {ways} ways of writing: the same bits both ways, and the same bytes")


if __name__ == "__main__":
    sys.exit(main())
