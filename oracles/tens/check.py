"""Compares tenfold with readers of TENS in a few lines of Python, bit for bit.

One follows the page of version 1.0 alone: of the chunks after the dimensions it knows `SYMMETRY` and `DENSDATA`, and
passes over any other by its size, as the page has implementations do. The other takes a file of version 0.9 as cc4s
and sisi4s do by their source: it passes over number type and sizes, and reads the doubles or complex doubles that
its caller asks for. What tenfold writes, with a chunk of its own or without, they read with the same bits; and
what the chunk carries comes back.
"""

import json
import struct
import tempfile
from pathlib import Path

import numpy

from shared import tenfold

QUIET = ("--force", "--no-sync", "--quiet")
NUMBERS = {(b"uint", 1): "<u1", (b"sint", 8): "<i8", (b"IEEE", 4): "<f4", (b"IEEE", 8): "<f8"}


def dimensions(data):
    (order,) = struct.unpack_from("<I", data, 20)
    return tuple(struct.unpack_from("<I", data, 32 + 8 * dim)[0] for dim in range(order)), 32 + 8 * order


def read_1_0(path):
    """The array, its names, and the magics of the chunks that were passed over."""
    data = path.read_bytes()
    magic, version, number, width, arity = struct.unpack_from("<4sI4sII", data)
    (flags,) = struct.unpack_from("<I", data, 24)
    assert (magic, version) == (b"TENS", 0x10000)
    shape, at = dimensions(data)
    dtype = numpy.dtype("<c16" if arity == 2 else NUMBERS[number, width])
    passed = []
    while at < len(data):
        chunk = data[at : at + 8]
        if flags == 1 and not all(0x20 <= byte <= 0x7E for byte in chunk):
            return pairs(data, at, shape, dtype), passed
        (size,) = struct.unpack_from("<Q", data, at + 8)
        assert size >= 16 and size % 8 == 0 and at + size <= len(data), chunk
        if chunk == b"DENSDATA":
            count = int(numpy.prod(shape, dtype=object))
            array = numpy.frombuffer(data, dtype, count, at + 16).reshape(shape, order="F")
        else:
            passed.append(chunk)
        at += size
    return array, passed


def pairs(data, at, shape, dtype):
    (count,) = struct.unpack_from("<Q", data, at)
    entries = numpy.frombuffer(data, [("at", "<u8"), ("value", dtype)], count, at + 8)
    assert at + 8 + entries.nbytes == len(data)
    flat = numpy.zeros(int(numpy.prod(shape)), dtype)
    flat[entries["at"].astype(int)] = entries["value"]
    return flat.reshape(shape, order="F")


def read_0_9(path, dtype):
    """As the programs do: the caller says what the numbers are."""
    data = path.read_bytes()
    assert data[:4] == b"TENS" and struct.unpack_from("<I", data, 4)[0] <= 0x9000
    shape, at = dimensions(data)
    return numpy.frombuffer(data, dtype, offset=at).reshape(shape, order="F")


def same(found, wanted):
    return found.shape == wanted.shape and numpy.asfortranarray(found).tobytes("F") == wanted.astype(found.dtype).tobytes("F")


def arrays(source):
    bits = source.integers(0, 256, (3, 4, 48), dtype=numpy.uint8)
    for dtype in ("u1", "<i8", "<f4", "<f8", "<c16"):
        yield bits.view(dtype)
    yield numpy.where(source.random((5, 6)) < 0.2, source.standard_normal((5, 6)), 0.0)


def check_carried(folder, array):
    """A name, names of dimensions and metadata go through TENS, and a reader of the page passes over them."""
    named, tens, back = folder / "named.zt", folder / "out.tens", folder / "back.zt"
    numpy.savez(folder / "a.npz", **{"enc.w": array})
    tenfold("convert", str(folder / "a.npz"), str(named), "--dims", ",".join(f"dim{n}" for n in range(array.ndim)), "--to", "ztensor@2", *QUIET)
    tenfold("edit", str(named), "--set", "about=water", "--no-sync")
    for flags in ([], ["--sparse"]):
        tenfold("convert", str(named), str(tens), *flags, *QUIET)
        found, passed = read_1_0(tens)
        assert same(found, array) and passed == [b"tenfold:"], passed
        tenfold("convert", str(tens), str(back), "--to", "ztensor@2", *QUIET)
        facts = [json.loads(tenfold("info", "--json", str(path))) for path in (named, back)]
        names, abouts = [[tensor["name"] for tensor in fact["tensors"]] for fact in facts], [fact["metadata"]["about"] for fact in facts]
        dims = [[dim["name"] for dim in fact["tensors"][0]["dims"]] for fact in facts]
        assert names[0] == names[1] and abouts[0] == abouts[1] and dims[0] == dims[1], facts
        tenfold("convert", str(named), str(tens), "--no-carry", *flags, *QUIET)
        assert read_1_0(tens)[1] == []


def check_0_9(folder, array):
    """Doubles become themselves; what is exactly a double becomes one; the rest needs permission."""
    plain, tens = folder / "a.npy", folder / "out.bin"
    numpy.save(plain, array)
    allow = ("--allow", "precision") if array.dtype == "<i8" else ()
    tenfold("convert", str(plain), str(tens), "--to", "tens@0.9", *allow, *QUIET)
    dtype = "<c16" if array.dtype.kind == "c" else "<f8"
    assert same(read_0_9(tens, dtype), array.astype(dtype))


def main():
    source = numpy.random.default_rng(3)
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for array in arrays(source):
            tens = folder / "plain.tens"
            numpy.save(folder / "a.npy", array)
            tenfold("convert", str(folder / "a.npy"), str(tens), *QUIET)
            found, passed = read_1_0(tens)
            assert same(found, array) and not passed
            check_carried(folder, array)
            check_0_9(folder, array)
            count += 6
    print(f"tens: {count} files of tenfold")


if __name__ == "__main__":
    main()
