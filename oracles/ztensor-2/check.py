"""Compares tenfold with the reference implementation of zTensor 2, both ways.

What the reference writes, canonical, at 4 KiB and compressed, tenfold shows with the same bits and
writes again with the same bytes; what tenfold writes, the reference verifies and reads with the same
bits.
"""

import os
import sys
import tempfile

import numpy
import ztensor

from shared import tenfold
from ztensor_arrays import NAMES, check_cells, check_reading, tensors

ZSTD = "zt.zstd-seekable/1"
# How the reference is asked to write, and tenfold.
WAYS = {
    (): ({}, None),
    ("align=4096",): ({"canonical": False, "align": 4096}, None),
    ("align=16384", "compress=zstd"): ({"canonical": False, "align": 16384}, ZSTD),
}


def add(writer, name, array, encoding):
    dtype, logical = NAMES[str(array.dtype)], None
    if dtype == "bool":
        dtype, logical = "u8", "bool"
    writer.add(name, array.tobytes(), list(array.shape), dtype, logical=logical, encoding=encoding)


def same(first, second):
    with open(first, "rb") as a, open(second, "rb") as b:
        return a.read() == b.read()


def check_writing(path, arrays):
    """The reference reads what tenfold wrote, and checks it deeply."""
    ztensor.verify(path, deep=True)
    with ztensor.open(path) as source:
        assert sorted(source.keys()) == sorted(arrays), "names"
        for name, array in arrays.items():
            tensor = source[name]
            assert tuple(tensor.shape) == array.shape, name
            assert (tensor.logical or tensor.dtype) == NAMES[str(array.dtype)], name
            assert tensor.tobytes() == array.tobytes(), name


def write_others(path):
    """Attributes, sparse objects and parts of layouts that nobody understands."""
    writer = ztensor.Writer(path)
    writer.set_attributes({"who": "me", "rate": 0.1, "list": [1, None, True, -7], "map": {"b": 1, "a": 2}})
    words = lambda *numbers: numpy.array(numbers, dtype="u8").tobytes()
    values = {"dtype": "f32", "data": numpy.array([1, 2, 3], dtype="f4").tobytes()}
    places = {"dtype": "u64", "data": words(0, 0, 1, 0, 2, 1)}
    writer.add_object("cells", [2, 3], {"values": values, "coords": places}, layout="zt.sparse_coo/1")
    writer.add("complex", numpy.array([1 - 2j]).astype("c8").tobytes(), [1], "f32", logical="complex64")
    writer.add("small", b"\x11\x22\x33", [3], "u8", logical="f8_e4m3fn")
    scales = {"dtype": "u8", "data": b"\x7f", "logical": "f8_e8m0"}
    block = {"dtype": "u8", "data": b"\x21\x43", "logical": "f4_e2m1"}
    writer.add_object("weights", [4], {"data": block, "scales": scales}, layout="zt.mx/1", attributes={"block_size": 32})
    rows = {"values": values, "indices": {"dtype": "u64", "data": words(0, 2, 1)},
            "indptr": {"dtype": "u64", "data": words(0, 2, 3)}}
    writer.add_object("z rows", [2, 3], rows, layout="zt.sparse_csr/1")
    writer.finish()


def main():
    arrays = tensors()
    names = sorted(arrays, key=str.encode)
    with tempfile.TemporaryDirectory() as folder:
        for number, (options, (how, encoding)) in enumerate(WAYS.items()):
            theirs, ours = (os.path.join(folder, f"{who}{number}.zt") for who in ("theirs", "ours"))
            again = os.path.join(folder, f"again{number}.zt")
            writer = ztensor.Writer(theirs, **how)
            for name in names:
                add(writer, name, arrays[name], encoding)
            writer.finish()
            check_reading(theirs, arrays, in_order=False)
            tenfold("convert", theirs, again, "--to", "ztensor")
            assert same(theirs, again), f"{options}: rewritten byte for byte"
            # By way of 0.1, which knows nothing of how theirs is laid out.
            first = os.path.join(folder, f"first{number}.zt")
            tenfold("convert", theirs, first, "--to", "ztensor@0.1", "--opt", "compress=none")
            flags = [word for option in options for word in ("--opt", option)]
            tenfold("convert", first, ours, "--to", "ztensor@2", *flags)
            check_writing(ours, arrays)
            check_reading(ours, arrays, in_order=False)
        theirs, ours = (os.path.join(folder, f"{who}.zt") for who in ("others", "same"))
        write_others(theirs)
        tenfold("verify", theirs)
        check_cells(theirs, ["cells", "z rows"], {(0, 0): 1, (0, 2): 2, (1, 1): 3})
        tenfold("convert", theirs, ours, "--to", "ztensor")
        assert same(theirs, ours), "attributes, sparse and opaque objects are rewritten byte for byte"
    print(f"{len(arrays)} tensors, {len(WAYS)} ways of writing: the same bits both ways, and the same bytes")


if __name__ == "__main__":
    sys.exit(main())
