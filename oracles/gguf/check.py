"""Compares tenfold with the Python package `gguf`, both ways.

What the package writes, tenfold shows with the same bits and writes again byte for byte, in either byte
order; what tenfold writes, the package reads. Quantised values come out bit for bit as the package works
them out, of random blocks, NaN and infinite scales included, and of blocks that it quantised itself. What
the package refuses of the corpus and of damaged files, tenfold refuses.
"""

import logging
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFEndian, GGUFReader, GGUFValueType, GGUFWriter
from gguf.quants import dequantize, quantize

from shared import tenfold

CORPUS = Path(__file__).resolve().parent.parent.parent / "corpus" / "gguf"
PLAIN = ["f4", "f2", "f8", "i1", "i2", "i4", "i8"]
SHAPES = [(1,), (5,), (2, 3), (2, 3, 4), (1, 2, 1, 3), (0,), (2, 0)]
QUANTISED = [kind for kind in GGMLQuantizationType if GGML_QUANT_SIZES[kind][0] > 1]
SCALARS = [
    (GGUFValueType.UINT8, 255), (GGUFValueType.INT8, -128), (GGUFValueType.UINT16, 65535),
    (GGUFValueType.INT16, -5), (GGUFValueType.UINT32, 2**32 - 1), (GGUFValueType.INT32, 7),
    (GGUFValueType.FLOAT32, 0.1), (GGUFValueType.UINT64, 2**64 - 1), (GGUFValueType.INT64, -(2**63)),
    (GGUFValueType.FLOAT64, 0.1), (GGUFValueType.BOOL, True), (GGUFValueType.STRING, "重み"),
]
numpy.seterr(all="ignore")
logging.disable(logging.WARNING)


def has_values(kind):
    try:
        dequantize(numpy.zeros((1, GGML_QUANT_SIZES[kind][1]), numpy.uint8), kind)
    except NotImplementedError:
        return False
    return True


def written(path, tensors, values=True, endian=GGUFEndian.LITTLE, alignment=None):
    """A file of the package: arrays by name, those of bytes with the type of their blocks."""
    writer = GGUFWriter(path, "llama", endianess=endian)
    if alignment:
        writer.add_custom_alignment(alignment)
    for kind, value in SCALARS if values else []:
        writer.add_key_value(f"x.{kind.name}", value, kind)
        writer.add_key_value(f"x.array.{kind.name}", [value] * 3, GGUFValueType.ARRAY, kind)
    for name, (array, kind) in tensors.items():
        writer.add_tensor(name, array, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return Path(path)


def random_bytes(source, shape):
    return source.integers(0, 256, shape, dtype=numpy.uint8)


def arrays(source):
    for code in PLAIN:
        for shape in SHAPES:
            dtype = numpy.dtype(code)
            raw = random_bytes(source, int(numpy.prod(shape)) * dtype.itemsize)
            yield f"{code}.{'x'.join(map(str, shape))}", (raw.view(dtype).reshape(shape), None)


def check_bytes(folder):
    """tenfold writes what it read of the package, byte for byte; also on a way round."""
    source = numpy.random.default_rng(3)
    plain = dict(arrays(source))
    blocks = {kind.name: (random_bytes(source, (3, 2 * GGML_QUANT_SIZES[kind][1])), kind) for kind in QUANTISED}
    blocks["BF16"] = (random_bytes(source, (3, 8)), GGMLQuantizationType.BF16)
    ours, between = folder / "ours.gguf", folder / "between.safetensors"
    for number, more in enumerate([
        {}, {"endian": GGUFEndian.BIG}, {"alignment": 64}, {"alignment": 8}, {"values": False},
    ]):
        tensors = plain if "endian" in more else plain | blocks
        theirs = written(folder / f"{number}.gguf", tensors, **more)
        tenfold("convert", str(theirs), str(ours), "--force", "--no-sync")
        assert ours.read_bytes() == theirs.read_bytes(), more
    tenfold("convert", str(theirs), str(between), "--force", "--no-sync", "--allow", "opaque")
    tenfold("convert", str(between), str(ours), "--force", "--no-sync")
    again = {tensor.name: tensor for tensor in GGUFReader(ours).tensors}
    for tensor in GGUFReader(theirs).tensors:
        found = again[tensor.name]
        assert found.tensor_type == tensor.tensor_type and (found.shape == tensor.shape).all(), tensor.name
        assert found.data.tobytes() == tensor.data.tobytes(), tensor.name
    return 5 * len(plain) + 4 * len(blocks)


def check_read(folder):
    """The package reads what tenfold writes."""
    source = numpy.random.default_rng(4)
    count = 0
    for name, (array, _) in arrays(source):
        for order, endian in (("C", "little"), ("F", "big")):
            theirs, ours = folder / "a.npy", folder / "a.gguf"
            numpy.save(theirs, numpy.array(array, order=order))
            tenfold("convert", str(theirs), str(ours), "--force", "--no-sync", "--quiet", "--opt", f"endian={endian}")
            (tensor,) = GGUFReader(ours).tensors
            assert tuple(reversed(tensor.shape.tolist())) == array.shape, name
            assert tensor.data.astype(array.dtype).tobytes() == array.tobytes(), (name, endian)
            count += 1
    return count


def check_values(folder):
    """Quantised values are those of the package, bit for bit."""
    source = numpy.random.default_rng(5)
    kinds = [kind for kind in QUANTISED if has_values(kind)]
    normal = source.standard_normal((16, 768)).astype(numpy.float32)
    tensors = {}
    for kind in kinds:
        cells, length = GGML_QUANT_SIZES[kind]
        tensors[kind.name] = (random_bytes(source, (256, 8 * length)), kind)
        try:
            tensors[f"{kind.name}.own"] = (quantize(normal, kind), kind)
        except NotImplementedError:
            pass
    path = written(folder / "values.gguf", tensors, values=False)
    n_nan = 0
    for word, dtype in (("f32", numpy.float32), ("f16", numpy.float16)):
        out = folder / "values.npz"
        allow = ["--allow", "precision"] if word == "f16" else []
        tenfold("convert", str(path), str(out), "--force", "--no-sync", "--dequantize", word, *allow)
        found = numpy.load(out)
        for name, (blocks, kind) in tensors.items():
            wanted = dequantize(blocks, kind)
            if word == "f32":
                assert found[name].view(numpy.uint32).tobytes() == wanted.view(numpy.uint32).tobytes(), name
                n_nan += int(numpy.isnan(wanted).sum())
                continue
            fits = numpy.isfinite(wanted.astype(dtype))
            assert found[name].dtype == dtype
            assert found[name][fits].tobytes() == wanted.astype(dtype)[fits].tobytes(), name
    tenfold("convert", str(path), str(folder / "values.safetensors"), "--force", "--no-sync", "--dequantize", "bf16")
    assert n_nan > 1000
    return len(tensors), n_nan


def refused(paths):
    """Which files tenfold refuses."""
    ran = subprocess.run([os.environ["TENFOLD"], "verify", *map(str, paths)], capture_output=True, text=True)
    lines = [line.removeprefix("tenfold: ").split(": ") for line in ran.stderr.splitlines()]
    errors = {path for path, *words in lines if words and not words[0].startswith("note ")}
    return {path for path in paths if str(path) in errors}


def is_refused(path):
    """Whether the package refuses a file, for any reason but a type of tensors that it does not know: tenfold keeps
    the bytes of such tensors."""
    try:
        for field in GGUFReader(path).fields.values():
            field.contents()
    except Exception as error:  # it has no errors of its own
        return "is not a valid GGMLQuantizationType" not in str(error)
    return False


def check_corpus():
    """What the package refuses of the corpus, tenfold refuses; what tenfold reads, the package reads."""
    for kind in ("good", "bad"):
        paths = sorted((CORPUS / kind).glob("*.gguf"))
        assert len(paths) > 100
        ours = {path.stem for path in refused(paths)}
        # The package counts to the end of arrays that are longer than the file.
        quick = [path for path in paths if not path.stem.startswith(("meta_bytes_", "meta_doubles_"))]
        theirs = {path.stem for path in quick if is_refused(path)}
        assert not theirs - ours, theirs - ours
        wanted = [path for path in paths if kind == "bad" or path.stem.startswith("lenient_")]
        assert ours == {path.stem for path in wanted}, ours


def check_damaged(folder):
    """What the package refuses of damaged files, tenfold refuses."""
    source = random.Random(6)
    good = [path.read_bytes() for path in sorted((CORPUS / "good").glob("*.gguf"))]
    paths = []
    for number in range(1000):
        data = bytearray(source.choice(good))
        for _ in range(source.randint(1, 3)):
            at = source.randrange(4, min(len(data), 200))
            data[at] = source.choice([0, 1, 2, 9, 12, 13, 255, data[at] ^ 1])
        paths.append(folder / f"damaged-{number}.gguf")
        paths[-1].write_bytes(data)
    ours = refused(paths)
    both = 0
    for path in paths:
        if path not in ours:
            assert not is_refused(path), path.name
        else:
            both += 1
    return both, len(paths) - both


def check_split(folder):
    """A set of files says of itself what llama.cpp asks for, has every tensor once, and becomes the whole again."""
    weights = {f"blk.{layer}.w": (numpy.full((64, 64), layer, "f4"), None) for layer in range(6)}
    whole = written(folder / "whole.gguf", weights)
    tenfold("convert", str(whole), str(folder / "set.gguf"), "--max-size", "40KB")
    files = sorted(folder.glob("set-*.gguf"))
    assert len(files) == 3, files
    found = {}
    for number, file in enumerate(files):
        assert file.name == f"set-{number + 1:05}-of-{len(files):05}.gguf"
        reader = GGUFReader(file)
        # The types that the loader of llama.cpp asks for.
        for key, kind, value in [
            ("split.no", GGUFValueType.UINT16, number),
            ("split.count", GGUFValueType.UINT16, len(files)),
            ("split.tensors.count", GGUFValueType.INT32, len(weights)),
        ]:
            field = reader.fields[key]
            assert field.types == [kind] and field.contents() == value, (file, key)
        # All other metadata stands in the first file alone.
        assert ("general.architecture" in reader.fields) == (number == 0), file
        found.update((tensor.name, tensor.data) for tensor in reader.tensors)
    assert list(found) == list(weights)
    assert all(numpy.array_equal(found[name], array) for name, (array, _) in weights.items())
    again = folder / "again.gguf"
    tenfold("convert", str(files[1]), str(again))
    assert again.read_bytes() == whole.read_bytes()
    return len(files)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        count, read = check_bytes(folder), check_read(folder)
        split = check_split(folder)
        kinds, n_nan = check_values(folder)
        check_corpus()
        both, neither = check_damaged(folder)
    print(f"{count} tensors of the package rewritten byte for byte, {read} of ours read by it")
    print(f"{kinds} quantised tensors worked out bit for bit, {n_nan} NaN among the values")
    print(f"damaged files: {both} refused, {neither} read by both; a set of {split} files read and merged")


if __name__ == "__main__":
    sys.exit(main())
