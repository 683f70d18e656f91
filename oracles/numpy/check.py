"""Compares tenfold with NumPy, both ways.

What NumPy saves, tenfold shows with the same bits and writes again byte for byte, in every version of
the format; what tenfold writes, NumPy loads with the same bits, order and byte order. What NumPy reads
but does not write itself comes out as NumPy would have saved it. Raw numbers are those of `tofile`, and
the CSV that tenfold prints has the same bits when Python's `csv` and NumPy have read it.
"""

import csv
import io
import json
import os
import subprocess
import sys
import tempfile

import numpy

from shared import same_number, shown, tenfold

TENFOLD = os.environ["TENFOLD"]
KINDS = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
NAMES = {"b1": "bool", "c8": "c64", "c16": "c128"}
NAMES |= {kind: f"{kind[0]}{8 * int(kind[1:])}" for kind in KINDS if kind not in NAMES}
SHAPES = [
    (), (1,), (5,), (0,), (2, 3), (1, 4), (4, 1), (0, 3), (3, 0), (12, 2), (2, 3, 4), (3, 1, 2), (2, 0, 3),
    (2, 3, 2, 2), (1, 2, 1, 3), (2, 2, 3, 1, 2), (2, 0, 1, 3, 2), (1,) * 63 + (2,),
]


def arrays():
    """Every type, byte order, shape and order, with all the bit patterns that tend to get lost."""
    random = numpy.random.default_rng(7)
    for kind in KINDS:
        for mark in "<>" if numpy.dtype(kind).itemsize > 1 else "|":
            dtype = numpy.dtype(mark + kind)
            for shape in SHAPES:
                count = int(numpy.prod(shape))
                raw = random.integers(0, 256, count * dtype.itemsize, dtype=numpy.uint8)
                if kind == "b1":
                    raw &= 1
                array = raw.view(dtype).reshape(shape)
                yield array
                fortran = numpy.asfortranarray(array)
                if not fortran.flags.c_contiguous:
                    yield fortran
    for kind in ["f2", "f4", "f8", "c8", "c16"]:
        for mark in "<>":
            yield numpy.array([0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan], dtype=mark + kind)
    yield random.standard_normal((300, 200)).astype("<f4")
    yield numpy.asfortranarray(random.standard_normal((300, 200)))


def check_shown(path, array):
    """tenfold reads what NumPy wrote."""
    about = array.dtype.str, array.shape
    (tensor,) = json.loads(tenfold("show", "--json", path))["tensors"]
    assert tensor["dtype"] == NAMES[array.dtype.str[1:]], about
    assert tuple(tensor["shape"]) == array.shape, about
    values, data = array.ravel(), tensor["data"]
    if array.dtype.kind == "c":
        values = numpy.stack([values.real, values.imag], axis=-1).ravel()
        data = [part for pair in data for part in pair]
    wanted = [shown(value, values.dtype.kind) for value in values]
    number = values.dtype.newbyteorder("=")
    assert all(same_number(*pair, number) for pair in zip(data, wanted, strict=True)), about


def check_loaded(path, array):
    """NumPy loads what tenfold wrote."""
    found = numpy.load(path, allow_pickle=False)
    about = array.dtype.str, array.shape
    assert (found.dtype.str, found.shape) == about, about
    assert found.flags.f_contiguous == array.flags.f_contiguous, about
    assert found.tobytes() == array.tobytes(), about


def read(path):
    with open(path, "rb") as file:
        return file.read()


def check_rewriting(folder, array, version):
    theirs, ours = os.path.join(folder, "theirs.npy"), os.path.join(folder, "ours.npy")
    with open(theirs, "wb") as file:
        numpy.lib.format.write_array(file, array, version=version)
    check_shown(theirs, array)
    tenfold("convert", theirs, ours, "--force", "--no-sync")
    assert read(ours) == read(theirs), (array.dtype.str, array.shape, version)
    check_loaded(ours, array)


def check_choosing(folder, array):
    """Each version is written when asked for."""
    source = os.path.join(folder, "source.npy")
    numpy.save(source, array)
    for version in [(1, 0), (2, 0), (3, 0)]:
        ours, theirs = os.path.join(folder, "chosen.npy"), os.path.join(folder, "wanted.npy")
        tenfold("convert", source, ours, "--force", "--no-sync", "--to", "npy@{}.{}".format(*version))
        with open(theirs, "wb") as file:
            numpy.lib.format.write_array(file, array, version=version)
        assert read(ours) == read(theirs), version


FOREIGN = [
    (b"{'descr':'<f8','fortran_order':True,'shape':(1,2)}\n", (1, 0)),
    (b"{'shape': (2L,), 'descr': u'<f8', 'fortran_order': False}   \n", (1, 0)),
    (b"\n{\"descr\": '\\x3cf8',\n 'fortran_order': True, 'shape': (2,1,),\n}\n", (2, 0)),
    ("{'descr': '<f8', 'fortran_order': False, 'shape': (2, )}\n".encode(), (3, 0)),
]


def check_foreign(folder):
    """Headers that NumPy reads and would not write."""
    source, ours, theirs = (os.path.join(folder, name) for name in ("f.npy", "f-ours.npy", "f-theirs.npy"))
    for header, version in FOREIGN:
        length = len(header).to_bytes(2 if version == (1, 0) else 4, "little")
        with open(source, "wb") as file:
            file.write(b"\x93NUMPY" + bytes(version) + length + header)
            file.write(numpy.array([1.5, -2.5]).tobytes())
        array = numpy.load(source)
        check_shown(source, array)
        tenfold("convert", source, ours, "--force", "--no-sync")
        with open(theirs, "wb") as file:
            numpy.lib.format.write_array(file, array, version=version)
        assert read(ours) == read(theirs), header


def check_raw(folder, array):
    """Raw numbers are what `tofile` writes, in either order, there and back."""
    array_file, ours, theirs, again = (os.path.join(folder, name) for name in ("r.npy", "r-ours", "r-theirs", "r-again.npy"))
    numpy.save(array_file, array)
    endian = "big" if array.dtype.str.startswith(">") else "little"
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    shape = "x".join(str(size) for size in array.shape)
    words = f"dtype={NAMES[array.dtype.str[1:]]},shape={shape},order={order},endian={endian}"
    tenfold("convert", array_file, ours, "--raw", words, "--force", "--no-sync")
    with open(theirs, "wb") as file:
        file.write(array.tobytes(order=order))
    assert read(ours) == read(theirs), words
    tenfold("convert", theirs, again, "--raw", words, "--force", "--no-sync")
    # Only a rewrite of an npy keeps the byte order.
    numpy.save(array_file, numpy.array(array, dtype=array.dtype.newbyteorder("<"), order=order))
    assert read(again) == read(array_file), words


def check_csv(folder, array):
    """Every cell of the CSV reads back to the same bits, or to some NaN."""
    path = os.path.join(folder, "c.npy")
    numpy.save(path, array)
    number = {"c": complex, "f": float, "b": lambda word: word == "true"}.get(array.dtype.kind, int)

    def check(words, wanted, about):
        found = numpy.array([number(word) for word in words], dtype=wanted.dtype)
        is_nan = wanted != wanted
        assert (found.tobytes() == wanted.tobytes() or
                all(f.tobytes() == w.tobytes() or (n and f != f) for f, w, n in zip(found, wanted, is_nan, strict=True))), about

    rows = list(csv.reader(io.StringIO(tenfold("show", "--csv=long", path))))
    assert rows[0] == [f"dim{place}" for place in range(array.ndim)] + ["value"], array.shape
    places = [tuple(int(place) for place in row[:-1]) for row in rows[1:]]
    assert places == list(numpy.ndindex(array.shape)), array.shape
    check([row[-1] for row in rows[1:]], array.ravel(), array.shape)
    if array.ndim <= 2 and array.size:
        rows = list(csv.reader(io.StringIO(tenfold("show", "--csv", path))))
        assert len(rows) == (array.shape[0] if array.ndim else 1), array.shape
        check([word for row in rows for word in row], array.ravel(), array.shape)


def refused(folder):
    """Types that have no numbers, and are never unpickled."""
    path = os.path.join(folder, "refused.npy")
    for array in [
        numpy.array([{}, None], dtype=object),
        numpy.array(["a", "bc"]),
        numpy.array([b"a", b"bc"]),
        numpy.zeros(2, dtype=[("x", "<f4"), ("y", "<i8", (2,))]),
        numpy.zeros(2, dtype="V2"),
        numpy.zeros(2, dtype="M8[ns]"),
        numpy.zeros(2, dtype=numpy.longdouble),
        numpy.zeros(2, dtype=[("名前", "<f4")]),
    ]:
        numpy.save(path, array, allow_pickle=True)
        ran = subprocess.run([TENFOLD, "verify", path], capture_output=True, text=True)
        is_extended = array.dtype == numpy.longdouble and array.dtype.itemsize > 8
        if array.dtype != numpy.longdouble or is_extended:
            # An array of objects is a pickle, and it is listed what that calls.
            why = "would call" if array.dtype.hasobject else "is not supported"
            assert ran.returncode != 0 and why in ran.stderr, (array.dtype, ran)


def main():
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        for array in arrays():
            # All versions differ in the header alone: the two others need no more than each type once.
            versions = [None, (2, 0), (3, 0)] if array.shape in [(), (2, 3)] else [None]
            for version in versions:
                check_rewriting(folder, array, version)
                count += 1
            if array.shape in [(), (5,), (2, 3), (0, 3), (2, 3, 4)]:
                check_raw(folder, array)
                check_csv(folder, array)
        check_choosing(folder, numpy.asfortranarray(numpy.arange(6.0).reshape(2, 3)))
        check_foreign(folder)
        refused(folder)
    print(f"{count} arrays: the same bits both ways, and the bytes that NumPy writes")


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    sys.exit(main())
