"""Compares the hashes of tenfold with those that the lines of Python in docs/hash.md give.

The values come from NumPy, and from what the makers of the corpus say about each file, not from tenfold.
"""

import glob
import json
import os
import re
import struct
import sys
import tempfile

import numpy

from shared import tenfold

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
PARTS = {"c64": ("f32", 2), "c128": ("f64", 2), "c256": ("f128", 2)}
ARITIES = {"complex": 2, "quaternion": 4, "octonion": 8}
CODES = {"bool": "?", "u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i8": "b", "i16": "h", "i32": "i", "i64": "q"}
CODES |= {"f16": "e", "f32": "f", "f64": "d"}


def definition():
    """The functions that the page prints."""
    with open(os.path.join(ROOT, "docs", "hash.md"), encoding="utf-8") as page:
        (code,) = re.findall(r"```python\n(.*?)```", page.read(), re.DOTALL)
    names = {}
    exec(code, names)  # noqa: S102, the page is ours
    return names


PAGE = definition()


class Unsure(Exception):
    """The bits of a value cannot be told from its text."""


def packed(value, dtype):
    """The bytes of a number as its maker wrote it."""
    if value == "NaN" or dtype == "f128":
        raise Unsure
    value = {"Infinity": numpy.inf, "-Infinity": -numpy.inf}.get(value, value)
    if dtype == "bf16":
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        return struct.pack("<H", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16)
    if dtype in ("u128", "i128"):
        return int(value).to_bytes(16, "little", signed=dtype == "i128")
    return struct.pack("<" + CODES[dtype], value)


def values(data, dtype):
    """The bytes of elements."""
    wide = re.fullmatch(r"(\w+)<(\w+)>", dtype)
    number, count = (wide[2], ARITIES[wide[1]]) if wide else PARTS.get(dtype, (dtype, 1))
    flat = data if count == 1 else [part for element in data for part in element]
    return b"".join(packed(value, number) for value in flat)


def wanted_tensor(tensor):
    """The hash of a tensor as `show` in a file beside the corpus describes it."""
    dtype, sizes, kind = tensor["dtype"], tensor["shape"], tensor["storage"]
    if kind == "dense":
        return PAGE["tensor"]("dense", dtype, sizes, values(tensor["data"], dtype))
    if kind == "train":
        cores = b"".join(values(core["data"], dtype) for core in tensor["cores"])
        ranks = b"".join(PAGE["number"](rank) for rank in tensor["ranks"])
        return PAGE["tensor"]("train", dtype, sizes, ranks + cores)
    if kind == "opaque":
        raise Unsure
    cells = [(cell["at"], values(cell["data"], dtype)) for cell in tensor["cells"]]
    if None in sizes:
        names = [dim["name"] or "" for dim in tensor["dims"]]
        return PAGE["labelled"](dtype, sizes, names, cells)
    places = [int(numpy.ravel_multi_index(at, sizes)) if sizes else 0 for at, _ in cells]
    return PAGE["sparse"](dtype, sizes, [(place, value) for place, (_, value) in zip(places, cells, strict=True)])


def found(path, *flags):
    return tenfold("hash", path, *flags).split("  ")[0]


def check_corpus():
    count = 0
    for sibling in sorted(glob.glob(os.path.join(ROOT, "corpus", "*", "good", "*.json"))):
        with open(sibling, encoding="utf-8") as file:
            known = json.load(file)
        path = sibling.removesuffix(".json")
        format_name = os.path.basename(os.path.dirname(os.path.dirname(path)))
        flags = ["--format", format_name] + ["--lenient"] * known["lenient"]
        for name, value in known["options"].items():
            flags += ["--opt", f"{name}={value}"]
        try:
            tensors = [(tensor["name"], wanted_tensor(tensor)) for tensor in known["show"]["tensors"]]
        except Unsure:
            continue
        assert found(path, *flags) == PAGE["file"](tensors).hex(), path
        count += 1
    assert count > 200, count
    return count


def check_numpy(folder):
    random = numpy.random.default_rng(7)
    count = 0
    path = os.path.join(folder, "array.npy")
    for kind in ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]:
        bits = 8 * numpy.dtype(kind).itemsize
        name = "bool" if kind == "b1" else f"{kind[0]}{bits}"
        for shape in [(), (5,), (0, 3), (2, 3), (3, 1, 2), (30, 40, 50)]:
            raw = random.integers(0, 256, int(numpy.prod(shape)) * bits // 8, dtype=numpy.uint8)
            array = raw.view("<" + kind).reshape(shape)
            # A bool is 0 or 1, whatever byte stands for it.
            body = (raw != 0).tobytes() if kind == "b1" else array.tobytes()
            wanted = PAGE["tensor"]("dense", name, list(shape), body).hex()
            for mark in "<>":
                for order in "CF":
                    # Swapped bit by bit: a conversion might touch NaN.
                    swapped = array if mark == "<" else array.byteswap().view(array.dtype.newbyteorder())
                    numpy.save(path, numpy.asarray(swapped, order=order))
                    assert found(path) == wanted, (kind, shape, mark, order)
                    count += 1
    return count


def main():
    with tempfile.TemporaryDirectory() as folder:
        arrays = check_numpy(folder)
    files = check_corpus()
    print(f"{arrays} arrays and {files} files have the hashes that docs/hash.md defines")


if __name__ == "__main__":
    sys.exit(main())
