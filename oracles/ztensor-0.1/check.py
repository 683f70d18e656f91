"""Compares tenfold with the reference implementation of zTensor 0.1, both ways.

What the reference writes, tenfold shows with the same bits; what tenfold writes, raw, compressed and
with checksums, the reference reads with the same bits.
"""

import json
import os
import sys
import tempfile

import ml_dtypes
import numpy
import ztensor

from shared import same_number, shown, tenfold

NAMES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "bool": "bool"}
NAMES |= {f"{kind}int{bits}": f"{kind or 'i'}{bits}" for kind in ("", "u") for bits in (8, 16, 32, 64)}
# How tenfold is asked to write, and what the index must say then.
WAYS = {
    (): ("raw", None),
    ("compress=zstd",): ("zstd", None),
    ("compress=zstd", "level=19", "checksum=crc32c"): ("zstd", "crc32c:0x"),
    ("checksum=crc32c",): ("raw", "crc32c:0x"),
}


def tensors():
    """Every type in several shapes, with all the bit patterns that tend to get lost."""
    random = numpy.random.default_rng(7)
    found = {}
    for name in NAMES:
        dtype = numpy.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
        for shape in [(1,), (5,), (2, 3), (3, 1, 4), (2, 0, 3), (40, 50)]:
            count = int(numpy.prod(shape))
            raw = random.integers(0, 256, count * dtype.itemsize, dtype=numpy.uint8)
            if name == "bool":
                raw &= 1
            array = raw.view(dtype).reshape(shape)
            found[f"{name} {'x'.join(map(str, shape))}"] = array
    for name, bits in {"f32": numpy.uint32, "f64": numpy.uint64, "f16": numpy.uint16}.items():
        size = numpy.dtype(bits).itemsize
        special = [0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan]
        found[f"special {name}"] = numpy.array(special, dtype=f"f{size}")
    found["名前/with.dots@and\\more"] = numpy.arange(3, dtype="int16")
    found["large"] = random.standard_normal((700, 900)).astype("float32")
    return found


def check_reading(path, arrays):
    """tenfold reads what the reference wrote."""
    tenfold("verify", path)
    seen = json.loads(tenfold("show", "--json", path))
    assert [tensor["name"] for tensor in seen["tensors"]] == list(arrays), "names"
    for tensor, (name, array) in zip(seen["tensors"], arrays.items()):
        assert tensor["dtype"] == NAMES[str(array.dtype)], name
        assert tuple(tensor["shape"]) == array.shape, name
        wanted = [shown(value, array.dtype.kind) for value in array.ravel()]
        pairs = zip(tensor["data"], wanted, strict=True)
        assert all(same_number(found, value, array.dtype) for found, value in pairs), name


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
    print(f"{len(arrays)} tensors, {len(WAYS)} ways of writing: the same bits both ways")


if __name__ == "__main__":
    sys.exit(main())
