"""zTensor 1.0, 1.1 and 1.2: files that read, and files that must be refused."""

import struct

import cbor
import common
import zstd
from cells import pack
from marked import AT, split
from ztensor1_file import MAGIC, File, good, refuse, text_map, with_index
from ztensor_file import crc, dense, opaque, sha256

ALL = ("1.0", "1.1", "1.2")


def make():
    for version in ALL:
        make_usual(version, "v" + version.replace(".", "_"))
    make_types()
    make_opaque()
    make_index_forms()
    make_refused()


def words(*numbers):
    return struct.pack(f"<{len(numbers)}Q", *numbers)


def make_usual(version, name):
    good(f"{name}_empty", File(version))
    file = File(version).tensor("w", "f32", [2, 2], [1.0, -0.0, 2.5, 3.0]).tensor("mask", "bool", [3], [1, 0, 1])
    file.tensor("half", "bf16", [1], [1.5]).tensor("none", "i64", [0, 3], []).tensor("one", "u8", [], [7])
    good(f"{name}_dense", file)
    blob = zstd.frame(zstd.raw(words(1, 2)))
    length = {"uncompressed_length": cbor.integer(16)} if version == "1.2" else {}
    packed = {"encoding": cbor.text("zstd"), "digest": cbor.text(crc(blob)), **length}
    good(f"{name}_zstd", File(version).tensor("w", "u64", [2], [1, 2], blob=blob, **packed))
    data = pack("u16", [1, 2], "<")
    good(f"{name}_checked", File(version).tensor("w", "u16", [2], [1, 2], digest=cbor.text(sha256(data))))
    good(f"{name}_digest_unknown", File(version).tensor("w", "u8", [1], [1], digest=cbor.text("md5:00")),
         notes=["unknown-checksum"])
    texts = cbor.mapping((cbor.text("license"), cbor.text("MIT")))
    good(f"{name}_attributes", File(version, texts, {"license": "MIT"}).tensor("w", "u8", [1], [1]))

    file = File(version)
    rows = {"values": file.component("f32", pack("f32", [1.0, 2.0, 3.0], "<")),
            "indices": file.component("u64", words(0, 2, 1)), "indptr": file.component("u64", words(0, 2, 3))}
    file.sparse("rows", "f32", [2, 3], "sparse_csr", rows, [((0, 0), 1.0), ((0, 2), 2.0), ((1, 1), 3.0)])
    coo = {"values": file.component("f32", pack("f32", [5.0, 6.0], "<")),
           "coords": file.component("u64", words(0, 1, 2, 0), digest=cbor.text(crc(words(0, 1, 2, 0))))}
    file.sparse("cells", "f32", [2, 3], "sparse_coo", coo, [((0, 2), 5.0), ((1, 0), 6.0)])
    good(f"{name}_sparse", file)
    # Nothing says how long these become: it has to be found out.
    file = File(version)
    coords = zstd.frame(zstd.raw(words(0, 1, 2, 0)))
    coo = {"values": file.component("f32", pack("f32", [5.0, 6.0], "<")),
           "coords": file.component("u64", coords, encoding=cbor.text("zstd"))}
    good(f"{name}_sparse_zstd", file.sparse("cells", "f32", [2, 3], "sparse_coo", coo, [((0, 2), 5.0), ((1, 0), 6.0)]))


def make_types():
    file = File()
    seen = dense("z", "f32", [2], [])
    seen.update(dtype="c64", data=[[1.0, -2.0], [0.0, 0.5]])
    file.shown.append(seen)
    data = file.component("f32", pack("f32", [1.0, -2.0, 0.0, 0.5], "<"), type=cbor.text("complex64"))
    good("v1_2_complex", file.object("z", "f32", [2], "dense", {"data": data}))
    file = File()
    file.shown.append(opaque("w", "u8", [3], "F8_E4M3", b"\x00\x38\x7f"))
    data = file.component("u8", b"\x00\x38\x7f", type=cbor.text("f8_e4m3fn"))
    good("v1_2_f8", file.object("w", "u8", [3], "dense", {"data": data}))


def make_opaque():
    """What is not understood is kept."""
    file = File()
    parts = {"packed_weight": file.component("u8", b"\x12\x34"), "scales": file.component("f16", b"\x00\x3c")}
    seen = opaque("q", "u8", [4], "quantized_group", b"")
    seen["parts"] = [{"name": "packed_weight", "dtype": "u8", "data": [0x12, 0x34]},
                     {"name": "scales", "dtype": "f16", "data": [1.0]}]
    seen["metadata"] = {"bits": 4}
    file.shown.append(seen)
    attributes = cbor.mapping((cbor.text("bits"), cbor.integer(4)))
    good("v1_2_quantized", file.object("q", "u8", [4], "quantized_group", parts, attributes=attributes))

    def unknown(name, word, **component):
        file = File().tensor("a", "u8", [1], [1])
        data = {"data": file.component("u8", b"\1", **component)}
        file.object("b", "u8", [1], "dense", data)
        file.shown.append(opaque("b", "u8", [1], word, b"\1"))
        good(name, file.tensor("c", "u8", [1], [3]))

    unknown("v1_2_dtype_unknown", "f8_e4m3", dtype=cbor.text("f8_e4m3"))
    unknown("v1_2_encoding_unknown", "lz4", encoding=cbor.text("lz4"))


def make_index_forms():
    file = File().tensor("w", "u8", [1], [1])
    file.body += b"between"
    good("v1_2_gap", file.tensor("v", "u8", [1], [2]), gaps=[(65, 63)])
    two = File().tensor("w", "u8", [1], [1]).tensor("w", "u8", [1], [2])
    good("v1_2_name_twice", two, notes=["duplicate-name"])
    good("v1_2_unknown_key", File().tensor("w", "u8", [1], [1]), more=cbor.array())
    optional = {"encoding": cbor.NULL, "digest": cbor.NULL, "type": cbor.NULL}
    good("v1_2_optional_null", File().tensor("w", "u8", [1], [1], **optional))
    good("v1_2_raw_by_name", File().tensor("w", "u8", [1], [1], encoding=cbor.text("raw")))
    wide = {"offset": cbor.integer(64, width=8)}
    good("v1_2_long_integers", File().tensor("w", "u8", [1], [1], **wide))
    data, at = split(File().tensor("w", "u8", [1], [1], blob=b"\1", offset=AT + cbor.integer(40)).bytes())
    seen = {"format": "ztensor", "metadata": {}, "tensors": [dense("w", "u8", [1], [0])], "note_kinds": ["lenient"]}
    common.good("ztensor", "v1_2_offset_40.zt", data, seen, lenient=True, strict_at=at, gaps=[(41, 24)])


def make_refused():
    def component(name, why, **fields):
        refuse(f"v1_2_{name}", why, File().tensor("w", "u8", [4], [1, 2, 3, 4], **fields).bytes())

    refuse("v1_magic_only", "no index", MAGIC)
    refuse("v1_cut", "no room for a length and the magic", MAGIC + bytes(7))
    refuse("v1_index_beyond_file", "the index is longer than the file",
           MAGIC + cbor.mapping() + AT + struct.pack("<Q", 9) + MAGIC)
    refuse("v1_no_objects", "an index has objects", with_index(AT + text_map({"version": cbor.text("1.2.0")})))
    refuse("v1_root_array", "an index is a map", with_index(AT + cbor.array()))
    refuse("v1_trailing", "the index ends with its map",
           with_index(text_map({"version": cbor.text("1.2.0"), "objects": cbor.mapping()}) + AT + b"\0"))
    refuse("v1_version_3", "no such version", with_index(AT + text_map({"version": cbor.text("3"), "objects": cbor.mapping()})))
    component("offset_0", "the magic is there", offset=AT + cbor.integer(0))
    component("offset_beyond_file", "no such byte", offset=AT + cbor.integer(2**64 - 64))
    component("length_into_index", "a blob ends before the index", offset=AT + cbor.integer(64), length=cbor.integer(100))
    component("offset_text", "an offset is a number", offset=AT + cbor.text("64"))
    one = File()
    data = one.component("u8", b"\1\2")
    refuse("v1_2_size_wrong", "two bytes for four cells", one.object("w", "u8", [4], "dense", {"data": AT + data}).bytes())
    one = File()
    data = one.component("u8", b"\1\2", **{"length": None})
    refuse("v1_2_no_length", "a component has a length", one.object("w", "u8", [2], "dense", {"data": AT + data}).bytes())
    one = File()
    data = one.component("u8", b"\1\2")
    shape = AT + cbor.array(cbor.integer(2))
    refuse("v1_2_no_data", "a dense object has data",
           one.object("w", "u8", [2], "dense", {"values": data}, shape=shape).bytes())
    one = File().tensor("w", "u8", [2], [1, 2], digest=cbor.text("crc32c:0x00000000"))
    refuse("v1_2_crc32c_wrong", "the checksum is another", mark_at(one.bytes(), 64), by="verify")
    blob = zstd.frame(zstd.raw(b"\1"))
    one = File().tensor("w", "u8", [2], [1, 2], blob=blob, encoding=cbor.text("zstd"), uncompressed_length=cbor.integer(2))
    refuse("v1_2_zstd_short", "one byte comes out, two are due", mark_at(one.bytes(), 64), by="verify")


def mark_at(data, at):
    return data[:at] + AT + data[at:]


if __name__ == "__main__":
    raise SystemExit(common.run(make))
