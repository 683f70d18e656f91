"""Compares tenfold with the reference implementation of zTensor 0.1, both ways.

What the reference writes, tenfold shows with the same bits; what tenfold writes, raw, compressed and
with checksums, the reference reads with the same bits.
"""

import os
import sys
import tempfile

import numpy
import ztensor

from shared import tenfold
from ztensor_arrays import check_reading, tensors

# How tenfold is asked to write, and what the index must say then.
WAYS = {
    (): ("raw", None),
    ("compress=zstd",): ("zstd", None),
    ("compress=zstd", "level=19", "checksum=crc32c"): ("zstd", "crc32c:0x"),
    ("checksum=crc32c",): ("raw", "crc32c:0x"),
}


def check_writing(path, arrays, encoding, checksum):
    """The reference reads what tenfold wrote, and checks its checksums."""
    reader = ztensor.Reader(path)
    assert reader.get_tensor_names() == list(arrays), "names"
    for name, array in arrays.items():
        about = reader.get_metadata(name)
        assert about.encoding == encoding, (name, about.encoding)
        assert (about.checksum or "").startswith(checksum or ""), (name, about.checksum)
        assert (about.checksum is None) == (checksum is None), (name, about.checksum)
        if array.size == 0:
            continue  # the reference cannot make a view of nothing
        found = reader.read_tensor(name)
        assert found.shape == array.shape and found.dtype == array.dtype, name
        assert found.tobytes() == array.tobytes(), name


def check_sources(folder):
    """Sparse and big-endian values come from other files as the reference wants them."""
    mtx, npy, zt = (os.path.join(folder, name) for name in ("cells.mtx", "big.npy", "source.zt"))
    with open(mtx, "w") as file:
        file.write("%%MatrixMarket matrix coordinate real general\n3 4 2\n1 2 5\n3 4 -7\n")
    cells = numpy.zeros((3, 4))
    cells[0, 1], cells[2, 3] = 5, -7
    big = numpy.arange(5, dtype=">f8")
    numpy.save(npy, big)
    for source, wanted in [(mtx, cells), (npy, big)]:
        tenfold("convert", source, zt, "--force")
        reader = ztensor.Reader(zt)
        (name,) = reader.get_tensor_names()
        assert numpy.array_equal(reader.read_tensor(name), wanted), source


def main():
    arrays = tensors()
    with tempfile.TemporaryDirectory() as folder:
        theirs = os.path.join(folder, "theirs.zt")
        with ztensor.Writer(theirs) as writer:
            for name, array in arrays.items():
                writer.add_tensor(name, array)
        check_reading(theirs, arrays)
        for number, (options, (encoding, checksum)) in enumerate(WAYS.items()):
            ours = os.path.join(folder, f"ours{number}.zt")
            flags = [word for option in options for word in ("--opt", option)]
            tenfold("convert", theirs, ours, "--to", "ztensor", *flags)
            check_writing(ours, arrays, encoding, checksum)
            check_reading(ours, arrays)
        with open(theirs, "rb") as a, open(os.path.join(folder, "ours0.zt"), "rb") as b:
            assert a.read() == b.read(), "a raw file is rewritten byte for byte"
        check_sources(folder)
    print(f"{len(arrays)} tensors, {len(WAYS)} ways of writing: the same bits both ways")


if __name__ == "__main__":
    sys.exit(main())
