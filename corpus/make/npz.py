"""NumPy's archive of arrays: corpus/npz. The examples that are refused are in `npz_bad.py`."""

import json
import math
import struct
import zlib

import common
import npz_bad
from npy import some
from npy_file import TYPES, array, dictionary, header, show
from zip_file import DEFLATED, Archive, padding


def shown(*arrays, metadata=None, **more):
    """What is shown of arrays, each a name and what `npy_file.show` takes."""
    tensors = []
    for name, *about in arrays:
        (tensor,) = show(*about)["tensors"]
        tensors.append(tensor | {"key": [name], "name": name})
    return {"format": "npz", "metadata": metadata or {}, "tensors": tensors} | more


def good(name, data, show, **more):
    common.good("npz", f"{name}.npz", data, show, **more)


def put(archive, name, data, **more):
    """A member as we write it: stored, its data at a multiple of 64, its sizes behind it."""
    extra = padding(archive, name)
    return archive.member(name, data, local_extra=extra, described=True, **more)


W = ("f32", [2, 2], some("f32", 4))
V = ("i64", [3], some("i64", 3))


def make():
    canonical()
    names()
    archives()
    gaps()
    left_out()
    carried()
    lenient()
    npz_bad.make()


def canonical():
    for dtype in TYPES:
        archive, values = Archive(), some(dtype, 3)
        put(archive, "w.npy", array(dtype, [3], values))
        good(f"type_{dtype}", archive.bytes(), shown(("w", dtype, [3], values)), canonical=True)
    good("empty", Archive().bytes(), shown(), canonical=True)
    archive = Archive()
    put(archive, "w.npy", array(*W))
    put(archive, "v.npy", array(*V, order=">"))
    put(archive, "s.npy", array("f64", [], [1.5]))
    put(archive, "f.npy", array("i16", [2, 3], some("i16", 6), fortran=True))
    put(archive, "e.npy", array("u8", [0, 3], []))
    arrays = [("w", *W), ("v", *V), ("s", "f64", [], [1.5])]
    arrays += [("f", "i16", [2, 3], some("i16", 6)), ("e", "u8", [0, 3], [])]
    good("several", archive.bytes(), shown(*arrays), canonical=True)
    archive = put(Archive(), "w.npy", array(*W, version=3))
    good("version_3", archive.bytes(), shown(("w", *W)), canonical=True)
    archive = put(Archive(), "w.npy", array(*W))
    good("comment", archive.bytes(b"made by hand"), shown(("w", *W)), canonical=True)
    good("comment_not_utf_8", archive.bytes(b"\xff\0"), shown(("w", *W)), canonical=True)


def names():
    archive, arrays = Archive(), []
    for place, name in enumerate(["", " ", "a/b", "../up", "/root", "w.npy", "重み", "\U0001f642", "a\nb", "x" * 300]):
        put(archive, f"{name}.npy", array("u8", [], [place]))
        arrays.append((name, "u8", [], [place]))
    good("names", archive.bytes(), shown(*arrays), canonical=True)
    good("name_without_suffix", Archive().member("w", array(*W)).bytes(), shown(("w", *W)))
    good("name_in_capitals", Archive().member("W.NPY", array(*W)).bytes(), shown(("W.NPY", *W)))
    good("name_of_code_page_437", Archive().member(b"\x81b\xe1.npy", array(*W)).bytes(), shown(("übß", *W)))
    utf_8 = Archive().member("w.npy", array(*W), flags=0x800).bytes()
    good("name_said_to_be_utf_8", utf_8, shown(("w", *W)))
    nul = Archive().member(b"a\0b.npy", array(*W)).bytes()
    good("name_with_nul", nul, shown(("a\0b", *W), note_kinds=["odd-name"]))


def archives():
    data = array(*W)
    for name, more in [
        ("numpy_savez", {"wide": True}),  # as NumPy writes: sizes of 64 bits, whatever they are
        ("plain", {}),
        ("deflated", {"method": DEFLATED}),
        ("numpy_savez_compressed", {"method": DEFLATED, "wide": True}),
        ("described", {"described": True}),
        ("described_deflated", {"described": True, "method": DEFLATED}),
        ("described_wide", {"described": True, "wide": True}),
        ("extra_fields", {"extra": struct.pack("<HHI", 0x5455, 5, 7) + b"\1" + b"\0\0"}),
    ]:
        good(name, Archive().member("w.npy", data, **more).bytes(), shown(("w", *W)))
    stored = Archive().member("w.npy", data, method=DEFLATED, data=b"\1" + struct.pack("<HH", len(data), 65535 - len(data)) + data)
    good("deflated_without_compression", stored.bytes(), shown(("w", *W)))
    long = ("u16", [3000], some("u16", 3000))
    good("deflated_long", Archive().member("w.npy", array(*long), method=DEFLATED).bytes(), shown(("w", *long)))
    wide = header(dictionary("<f4", [2, 2]), 2, align=4096) + data[128:]
    good("deflated_long_header", Archive().member("w.npy", wide, method=DEFLATED).bytes(), shown(("w", *W)))
    good("wide_end", Archive().member("w.npy", data).bytes(wide=True), shown(("w", *W)))
    good("wide_everywhere", Archive().member("w.npy", data, wide=True).bytes(wide=True), shown(("w", *W)))
    good("bytes_before", Archive(b"#!/bin/sh\n").member("w.npy", data).bytes(), shown(("w", *W)), gaps=[(0, 10)])
    archive = Archive().member("w.npy", data)
    between = len(archive.data)
    archive.data += b"between"
    archive.member("v.npy", array(*V))
    archive.entries.reverse()
    good("in_another_order", archive.bytes(), shown(("v", *V), ("w", *W)), gaps=[(between, 7)])
    end = b"PK\x05\x06" + bytes(18)
    good("comment_like_an_end", Archive().member("w.npy", data).bytes(end[:-2] + b"\1\1"), shown(("w", *W)))


def gaps():
    """Bytes that belong to no record, or say nothing there, and descriptors in the forms that APPNOTE allows."""
    data = array(*W)

    def case(name, archive, *gaps, **more):
        good(name, archive.bytes(**more), shown(("w", *W)), gaps=gaps)

    end = 30 + len("w.npy") + len(data)
    archive = Archive().member("w.npy", data)
    archive.data += b"evil" * 100
    case("bytes_before_directory", archive, (end, 400))
    archive = Archive().member("w.npy", data)
    archive.data += bytes(4)
    case("zeros_before_directory", archive, (end, 4))
    case("comment_of_entry", Archive().member("w.npy", data, entry_comment=b"remark"), (end + 46 + len("w.npy"), 6))
    case("wide_end_with_more", Archive().member("w.npy", data), (end + 46 + len("w.npy") + 56, 9), wide=True, more=b"nine more")
    right = struct.pack("<III", zlib.crc32(data), len(data), len(data))
    case("described_without_mark", Archive().member("w.npy", data, described=True, descriptor=right))
    wide = struct.pack("<IQQ", zlib.crc32(data), len(data), len(data))
    case("described_wide_without_mark", Archive().member("w.npy", data, described=True, descriptor=wide))
    more = b"PK\x07\x08" + right + b"and more"
    case("described_and_more", Archive().member("w.npy", data, described=True, descriptor=more), (end + 16, 8))
    wrong = b"PK\x07\x08" + struct.pack("<III", 7, len(data), len(data))
    case("described_wrongly", Archive().member("w.npy", data, described=True, descriptor=wrong), (end, 16))


def left_out():
    def beside(name, content, kinds=("skipped",), **more):
        archive = Archive().member("w.npy", array(*W)).member(name, content, **more)
        case = name.strip("/").split(".")[0]
        good(f"left_out_{case}", archive.bytes(), shown(("w", *W), note_kinds=list(kinds)))

    beside("readme.txt", b"no array")
    beside("folder/", b"")
    beside("short.npy", b"\x93NUM")
    beside("deflated.txt", b"no array", method=DEFLATED)
    beside("object.npy", header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }") + b"\x80\x04N.")
    called = header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }") + b"\x80\x02cos\nsystem\nX\x02\0\0\0ls\x85R."
    beside("object_call.npy", called)
    beside("object_call_deflated.npy", called, method=DEFLATED)
    beside("text.npy", header(dictionary("<U1", [1])) + b"a\0\0\0", method=DEFLATED)
    beside("structured.npy", header("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }") + bytes(4))


def carried():
    about = {"version": 1, "tensors": [{"name": "w", "shape": [2, 2], "dims": ["x", "y"]}]}
    comment = json.dumps(about, separators=(",", ":")).encode()
    archive = put(Archive(), "w.npy", array(*W))
    tensors = shown(("w", *W))
    tensors["tensors"][0]["dims"] = common.dims(2, 2, names=["x", "y"])
    good("carried", archive.bytes(comment), tensors, canonical=True)


def lenient():
    data = array(*W)

    def put(name, archive, strict_at, *arrays, **more):
        good(f"lenient_{name}", archive.bytes(), shown(*arrays, **more), lenient=True, strict_at=strict_at)

    other = array(*V)
    twice = Archive().member("w.npy", data).member("w.npy", other)
    directory = len(twice.data)
    put("name_twice", twice, directory + 46 + 5, ("w", *W), ("w", *V), note_kinds=["duplicate-name"])
    archive = Archive().member("w.npy", data).member("v.npy", other, method=12, data=other)
    put("method_12", archive, None, ("w", *W), note_kinds=["skipped"])
    archive = Archive().member("w.npy", data).member("v.npy", other, flags=1)
    put("encrypted", archive, None, ("w", *W), note_kinds=["skipped"])
    archive = Archive().member("w.npy", data + b"more")
    put("trailing_bytes", archive, 30 + 5 + len(data), ("w", *W), note_kinds=["lenient"])
    archive = Archive().member("w.npy", data + b"more", method=DEFLATED)
    put("trailing_bytes_deflated", archive, 30 + 5, ("w", *W), note_kinds=["lenient"])


if __name__ == "__main__":
    raise SystemExit(common.run(make))
