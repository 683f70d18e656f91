"""Compares tenfold with NumPy's archives, both ways.

What `numpy.savez` and `numpy.savez_compressed` write, tenfold shows with the same bits and writes again;
what tenfold writes, stored or deflated, NumPy loads with the same bits, order and byte order. What is
carried in the comment is no array to NumPy. Entries beyond 4 GiB are a sparse file.
"""

import io
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy

from shared import same_number, shown, tenfold

CORPUS = Path(__file__).resolve().parent.parent.parent / "corpus" / "npz"
KINDS = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
SHAPES = [(), (5,), (0,), (2, 3), (0, 3), (2, 3, 4), (1, 2, 1, 3)]


def arrays():
    """Every type, byte order and shape, in both orders."""
    random = numpy.random.default_rng(17)
    for kind in KINDS:
        for mark in "<>" if numpy.dtype(kind).itemsize > 1 else "|":
            for shape in SHAPES:
                dtype = numpy.dtype(mark + kind)
                raw = random.integers(0, 256, int(numpy.prod(shape)) * dtype.itemsize, dtype=numpy.uint8)
                array = (raw & 1 if kind == "b1" else raw).view(dtype).reshape(shape)
                yield array
                if len(shape) > 1:
                    yield numpy.asfortranarray(array)


def check_loaded(path, wanted):
    """NumPy loads what tenfold wrote."""
    with numpy.load(path, allow_pickle=False) as found:
        assert sorted(found.files) == sorted(wanted), found.files
        for name, array in wanted.items():
            other = found[name]
            about = (name, array.dtype.str, array.shape)
            assert (name, other.dtype.str, other.shape) == about, about
            assert other.flags.f_contiguous == array.flags.f_contiguous, about
            assert other.tobytes() == array.tobytes(), about
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None


def check_shown(path, wanted):
    found = {tensor["name"]: tensor for tensor in json.loads(tenfold("show", "--json", path))["tensors"]}
    assert sorted(found) == sorted(wanted)
    for name, array in wanted.items():
        values, data = array.ravel(), found[name]["data"]
        assert tuple(found[name]["shape"]) == array.shape, name
        if array.dtype.kind == "c":
            values = numpy.stack([values.real, values.imag], axis=-1).ravel()
            data = [part for pair in data for part in pair]
        number = values.dtype.newbyteorder("=")
        pairs = zip(data, (shown(value, values.dtype.kind) for value in values), strict=True)
        assert all(same_number(*pair, number) for pair in pairs), name


def aligned(path):
    """Whether the values of stored arrays begin at multiples of 64."""
    data = Path(path).read_bytes()
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            at = member.header_offset
            start = at + 30 + sum(int.from_bytes(data[at + place:at + place + 2], "little") for place in (26, 28))
            if start % 64 or data[start:start + 6] != b"\x93NUMPY":
                return False
    return True


def check_archives(folder):
    theirs, ours, again = (os.path.join(folder, name) for name in ("theirs.npz", "ours.npz", "again.npz"))
    wanted = {f"{number}/{array.dtype.str}": array for number, array in enumerate(arrays())}
    wanted |= {"": numpy.float64(1.5), "重み": numpy.arange(3), "w.npy.npy": numpy.zeros((2, 0)), "a b/..": numpy.ones(1)}
    wanted["long"] = numpy.random.default_rng(2).standard_normal((700, 500))
    wanted["zeros"] = numpy.zeros((1000, 1000), dtype="f4")
    for save in [numpy.savez, numpy.savez_compressed]:
        save(theirs, **wanted)
        tenfold("verify", theirs)
        for flags in [[], ["--opt", "compress=stored"], ["--opt", "compress=deflate"], ["--opt", "compress=deflate", "--opt", "level=1"]]:
            tenfold("convert", theirs, ours, "--force", "--no-sync", *flags)
            check_loaded(ours, wanted)
            level = flags[2:]  # which is not remembered
            tenfold("convert", ours, again, "--force", "--no-sync", *level)
            assert Path(again).read_bytes() == Path(ours).read_bytes(), flags
            if "compress=stored" in flags or (save is numpy.savez and not flags):
                assert aligned(ours)
        small = {name: array for name, array in wanted.items() if array.size < 1000}
        save(theirs, **small)
        check_shown(theirs, small)
    # An archive that was streamed has its sizes behind the data.
    buffer = io.BytesIO()
    with zipfile.ZipFile(Unseekable(buffer), "w") as archive:
        for name, array in list(wanted.items())[:20]:
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                numpy.lib.format.write_array(member, numpy.asanyarray(array))
    Path(theirs).write_bytes(buffer.getvalue())
    tenfold("convert", theirs, ours, "--force", "--no-sync")
    check_loaded(ours, dict(list(wanted.items())[:20]))
    return len(wanted)


class Unseekable(io.RawIOBase):
    """What only takes bytes."""

    def __init__(self, target):
        self.target = target

    def writable(self):
        return True

    def write(self, data):
        return self.target.write(data)


def check_carried(folder):
    """What is carried is no array to NumPy."""
    first, ours = os.path.join(folder, "first.npz"), os.path.join(folder, "carried.npz")
    numpy.savez(first, w=numpy.ones((2, 2)))
    model = os.path.join(folder, "carried.safetensors")
    tenfold("convert", first, model, "--no-sync", "--opt", "format=pt")
    tenfold("convert", model, ours, "--no-sync", "--force")
    with numpy.load(ours) as found:
        assert found.files == ["w"]
    with zipfile.ZipFile(ours) as archive:
        assert json.loads(archive.comment)["file"] == [["format", "pt"]]
    back = os.path.join(folder, "back.safetensors")
    tenfold("convert", ours, back, "--no-sync")
    assert Path(back).read_bytes() == Path(model).read_bytes()


def check_large(folder):
    """A member beyond 4 GiB, and one behind it: NumPy's, read; what tenfold makes of it, loaded."""
    size = (1 << 32) + 64
    theirs, ours = os.path.join(folder, "large.npz"), os.path.join(folder, "large-ours.npz")
    header = io.BytesIO()
    numpy.lib.format.write_array_header_1_0(header, {"descr": "|u1", "fortran_order": False, "shape": (size,)})
    with zipfile.ZipFile(theirs, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("large.npy", "w", force_zip64=True) as member:
            member.write(header.getvalue())
            for _ in range(size >> 26):
                member.write(bytes(1 << 26))
            member.write(bytes(range(size % (1 << 26))))
        with archive.open("small.npy", "w") as member:
            numpy.lib.format.write_array(member, numpy.arange(5))
    tenfold("convert", theirs, ours, "--no-sync", "--opt", "compress=stored")
    os.unlink(theirs)
    with zipfile.ZipFile(ours) as archive:
        with archive.open("large.npy") as member:
            assert member.read(6) == b"\x93NUMPY"
            assert archive.getinfo("large.npy").file_size == size + 128
        with archive.open("small.npy") as member:
            assert numpy.lib.format.read_array(member).tolist() == [0, 1, 2, 3, 4]
    end = json.loads(tenfold("show", "--json", f"{ours}:large[-3:]"))["tensors"][0]["data"]
    assert end == [61, 62, 63], end
    tenfold("verify", ours)


def refused():
    """NumPy's archives of what is no number."""
    with tempfile.NamedTemporaryFile(suffix=".npz") as file:
        numpy.savez(file, w=numpy.ones(2), o=numpy.array([{}, None], dtype=object), t=numpy.array(["a"]))
        file.flush()
        ran = subprocess.run([os.environ["TENFOLD"], "show", file.name], capture_output=True, text=True)
        assert ran.stderr.count("note (skipped)") == 2, ran
        # The array of objects is a pickle.
        ran = subprocess.run([os.environ["TENFOLD"], "verify", file.name], capture_output=True, text=True)
        assert ran.returncode == 1 and "multiarray._reconstruct" in ran.stdout, ran


def check_corpus():
    """NumPy reads what the corpus says is good."""
    paths = sorted((CORPUS / "good").glob("*.npz"))
    # NumPy looks at the first bytes, where zip does not; Python takes what looks like an end for one, and a wide
    # end for one of 56 bytes (APPNOTE 4.3.14.1 permits more).
    others = ("lenient_", "bytes_before", "comment_like_an_end", "wide_end_with_more")
    paths = [path for path in paths if not path.stem.startswith(others)]
    assert len(paths) > 30
    for path in paths:
        expected = {tensor["name"]: tensor for tensor in json.loads(Path(f"{path}.json").read_text())["show"]["tensors"]}
        with numpy.load(path, allow_pickle=False) as found:
            for name, tensor in expected.items():
                if "\0" not in name:  # Python cuts names there
                    assert list(found[name].shape) == tensor["shape"], path


def main():
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as folder:
        count = check_archives(folder)
        check_carried(folder)
        check_large(folder)
    refused()
    check_corpus()
    print(f"{count} arrays, stored and deflated: the same bits both ways")


if __name__ == "__main__":
    sys.exit(main())
