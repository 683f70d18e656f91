"""Compares tenfold with the reference implementation of safetensors, both ways.

What the reference writes, tenfold shows with the same bits and writes again byte for byte; what tenfold
writes, the reference reads. What the reference refuses, tenfold refuses: all of the corpus, and many
files with a damaged header. Where tenfold refuses more, the list below says what.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import safetensors.numpy
from safetensors import SafetensorError, TensorSpec, deserialize, serialize

from shared import same_number, shown, tenfold

CORPUS = Path(__file__).resolve().parent.parent.parent / "corpus" / "safetensors"
KINDS = ["bool", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "c8"]
SHAPES = [(), (1,), (5,), (0,), (2, 3), (0, 3), (2, 3, 4), (1,) * 12]
# What NumPy has no type for: the word of the reference for the type, its word in files, bytes an element.
RAW = [
    ("bfloat16", "BF16", 2), ("float8_e5m2", "F8_E5M2", 1), ("float8_e4m3fn", "F8_E4M3", 1),
    ("float8_e8m0fnu", "F8_E8M0", 1), ("float8_e4m3fnuz", "F8_E4M3FNUZ", 1),
    ("float8_e5m2fnuz", "F8_E5M2FNUZ", 1), ("float4_e2m1fn_x2", "F4", 1),
]
# Files that the reference reads and tenfold refuses; the module page says why.
STRICTER = {
    "metadata_name_twice", "metadata_null", "name_twice", "name_twice_escaped", "padded_with_a_line",
    "space_first", "tensor_array", "too_many_dims",
}


def refused(paths):
    """Which files tenfold refuses."""
    command = [os.environ["TENFOLD"], "verify", "--format", "safetensors", *map(str, paths)]
    ran = subprocess.run(command, capture_output=True, text=True)
    lines = [line.removeprefix("tenfold: ").split(": ") for line in ran.stderr.splitlines()]
    errors = {path for path, *words in lines if not words[0].startswith("note ")}
    return {path for path in paths if str(path) in errors}


def is_refused(data):
    """Whether the reference refuses a file."""
    try:
        deserialize(data)
    except SafetensorError:
        return True
    return False


def arrays():
    source = numpy.random.default_rng(11)
    for kind in KINDS:
        for shape in SHAPES:
            dtype = numpy.dtype(kind)
            raw = source.integers(0, 256, int(numpy.prod(shape)) * dtype.itemsize, dtype=numpy.uint8)
            yield (raw & 1 if kind == "bool" else raw).view(dtype).reshape(shape)


def check_shown(path, tensors):
    found = {tensor["name"]: tensor for tensor in json.loads(tenfold("show", "--json", path))["tensors"]}
    assert found.keys() == tensors.keys()
    for name, array in tensors.items():
        values, data = array.ravel(), found[name]["data"]
        assert tuple(found[name]["shape"]) == array.shape, name
        if array.dtype.kind == "c":
            values = numpy.stack([values.real, values.imag], axis=-1).ravel()
            data = [part for pair in data for part in pair]
        wanted = [shown(value, values.dtype.kind) for value in values]
        assert all(same_number(*pair, values.dtype) for pair in zip(data, wanted, strict=True)), name


def check_bytes(folder, data, about):
    """tenfold writes what it read of the reference, byte for byte; also on a way round."""
    theirs, ours, between = (os.path.join(folder, name) for name in ("t.safetensors", "o.safetensors", "b.zt"))
    Path(theirs).write_bytes(data)
    tenfold("convert", theirs, ours, "--force", "--no-sync")
    assert Path(ours).read_bytes() == data, about
    # zTensor 0.1 has neither complex numbers nor small floats: both are carried where that is asked for.
    ways = ["--complex", "split", "--allow", "opaque"]
    tenfold("convert", theirs, between, "--force", "--no-sync", *ways)
    tenfold("convert", between, ours, "--force", "--no-sync")
    assert Path(ours).read_bytes() == data, ("by zTensor", about)
    return theirs


def check_written(folder):
    """Files of the reference: one of all arrays, one an array, and what NumPy has no type for."""
    tensors = {f"{array.dtype}.{number}": array for number, array in enumerate(arrays())}
    real = {name: array for name, array in tensors.items() if array.dtype.kind != "c"}
    for chosen, metadata, about in [(tensors, None, "C64"), (real, {"format": "pt"}, "real"), ({}, None, "none")]:
        path = check_bytes(folder, safetensors.numpy.save(chosen, metadata), about)
        check_shown(path, chosen)
    for name, array in tensors.items():
        check_bytes(folder, safetensors.numpy.save({name: array}), "C64" if array.dtype.kind == "c" else name)
    for word, name, width in RAW:
        raw = numpy.random.default_rng(3).integers(0, 256, 12 * width, dtype=numpy.uint8)
        spec = TensorSpec(dtype=word, shape=[3, 4], data_ptr=raw.ctypes.data, data_len=raw.nbytes)
        data = bytes(serialize({"w": spec, 'q"\n重': spec}, {"a": "b"}))
        assert f'"dtype":"{name}"'.encode() in data
        check_bytes(folder, data, name)
    return len(tensors) + len(RAW)


def check_read(folder):
    """The reference reads what tenfold writes."""
    source, ours = os.path.join(folder, "source.npy"), os.path.join(folder, "read.safetensors")
    count = 0
    for array in arrays():
        for order in "CF":
            numpy.save(source, numpy.array(array, order=order, dtype=array.dtype.newbyteorder(">")))
            tenfold("convert", source, ours, "--force", "--no-sync", "--quiet")
            (found,) = safetensors.numpy.load_file(ours).values()
            assert (found.dtype, found.shape) == (array.dtype, array.shape), array.dtype
            assert found.tobytes() == array.tobytes(), array.dtype
            count += 1
    tenfold("convert", source, ours, "--force", "--no-sync", "--quiet", "--opt", "format=pt")
    with safetensors.safe_open(ours, "np") as file:
        assert file.metadata()["format"] == "pt"
    return count


def check_corpus():
    """Both agree on the corpus."""
    for kind in ("good", "bad"):
        paths = sorted((CORPUS / kind).glob("*.safetensors"))
        assert len(paths) > 50
        ours = {path.stem for path in refused(paths)}
        theirs = {path.stem for path in paths if is_refused(path.read_bytes())}
        lenient = {path.stem for path in paths if kind == "good" and path.stem.startswith("lenient_")}
        assert not theirs - ours, theirs - ours
        assert ours - theirs == (lenient - theirs if kind == "good" else STRICTER), ours - theirs


def check_damaged(folder):
    """What the reference refuses of damaged files, tenfold refuses."""
    source = random.Random(5)
    pieces = [b"0", b"-1", b"1e3", b"null", b"{}", b"[]", b'""', b'"', b",", b"}", b"18446744073709551615", b" ", b"\0"]
    good = [path.read_bytes() for path in sorted((CORPUS / "good").glob("*.safetensors"))]
    paths, both, stricter = [], 0, 0
    for number in range(3000):
        data = bytearray(source.choice(good))
        for _ in range(source.randint(1, 3)):
            at = source.randrange(8, len(data) + 1)
            data[at:at + source.randint(0, 3)] = source.choice(pieces)
        if source.random() < 0.7:  # a length that fits, so that more is looked at
            end = data.rfind(b"}") + 1
            data[:8] = max(end - 8, 0).to_bytes(8, "little")
        paths.append(Path(folder, f"damaged-{number}.safetensors"))
        paths[-1].write_bytes(data)
    ours = set()
    for start in range(0, len(paths), 500):
        ours |= refused(paths[start:start + 500])
    for path in paths:
        if is_refused(path.read_bytes()):
            assert path in ours, (path.name, path.read_bytes())
            both += 1
        else:
            stricter += path in ours
    return both, len(paths) - both - stricter, stricter


def main():
    with tempfile.TemporaryDirectory() as folder:
        written, read = check_written(folder), check_read(folder)
        check_corpus()
        both, neither, stricter = check_damaged(folder)
    print(f"{written} files of the reference rewritten byte for byte, {read} of ours read by it")
    print(f"damaged files: {both} refused by both, {neither} by neither, {stricter} by tenfold alone")


if __name__ == "__main__":
    sys.exit(main())
