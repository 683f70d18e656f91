"""zTensor 2: files that read, and files that must be refused."""

import struct

import cbor
import common
import zstd
from cells import pack
from marked import AT
from ztensor2_file import MAGIC, File, described, footer, good, ordered, refuse
from ztensor_file import dense, opaque, sha256


def make():
    make_dense()
    make_sparse()
    make_opaque()
    make_zstd()
    make_forms()
    refuse_frames()
    refuse_spelling()
    refuse_fields()
    refuse_places()
    refuse_values()


def words(*numbers):
    return struct.pack(f"<{len(numbers)}Q", *numbers)


def make_dense():
    good("v2_empty", File(), canonical=True)
    file = File().tensor("w", "f32", [2, 2], [1.0, -0.0, 2.5, 3.0]).tensor("mask", "bool", [3], [1, 0, 1])
    file.tensor("half", "bf16", [1], [1.5]).tensor("none", "i64", [0, 3], []).tensor("one", "u8", [], [7])
    good("v2_dense", file, canonical=True)
    same = File().tensor("a", "u8", [4], [0, 0, 128, 63]).tensor("b", "f32", [1], [1.0], at=4096)
    good("v2_blob_shared", same, canonical=True)
    file = File()
    seen = dense("z", "f32", [2], [])
    seen.update(dtype="c64", data=[[1.0, -2.0], [0.0, 0.5]])
    file.shown.append(seen)
    data = file.part("f32", pack("f32", [1.0, -2.0, 0.0, 0.5], "<"), type=cbor.text("complex64"))
    good("v2_complex", file.object("z", [2], "dense", {"data": data}), canonical=True)
    good("v2_no_digest", File().tensor("w", "u8", [2], [1, 2], digest=None), canonical=True)
    text = cbor.text(sha256(b"\1\2"))
    good("v2_sha256", File().tensor("w", "u8", [2], [1, 2], digest=text), canonical=True)
    good("v2_digest_unknown", File().tensor("w", "u8", [1], [1], digest=cbor.text("md5:00")), notes=["unknown-checksum"])
    attributes = ordered({"n": cbor.integer(-3), "list": cbor.array(cbor.NULL, cbor.half(0.5)), "text": cbor.text("é")})
    meta = {"n": -3, "list": [None, 0.5], "text": "é"}
    file = File(4096, attributes, meta).tensor("w", "u8", [1], [1], meta=meta, fields={"attributes": attributes})
    good("v2_attributes", file, canonical=True)


def make_sparse():
    file = File()
    rows = {"indices": file.part("u64", words(0, 2, 1)), "indptr": file.part("u64", words(0, 2, 3)),
            "values": file.part("f32", pack("f32", [1.0, 2.0, 3.0], "<"))}
    file.sparse("rows", "f32", [2, 3], "zt.sparse_csr/1", rows, [((0, 0), 1.0), ((0, 2), 2.0), ((1, 1), 3.0)])
    good("v2_rows", file, canonical=True)
    file = File()
    cells = {"coords": file.part("u32", struct.pack("<4I", 0, 1, 2, 0)), "values": file.part("u8", b"\5\6")}
    file.sparse("cells", "u8", [2, 3], "zt.sparse_coo/1", cells, [((0, 2), 5), ((1, 0), 6)])
    good("v2_coordinates", file, canonical=True)


def make_opaque():
    def case(name, shape, layout, seen_as, parts, types=None, **fields):
        file = File()
        seen = opaque("q", parts[0][1], shape, seen_as, b"")
        seen["parts"] = [{"name": part, "dtype": dtype, "data": list(blob)} for part, dtype, blob in parts]
        types = types or {}
        seen["metadata"] = {"ztensor:types": types} if types and seen_as == layout else {}
        file.shown.append(seen)
        made = {part: file.part(dtype, blob, type=cbor.text(types[part]) if part in types else None)
                for part, dtype, blob in parts}
        good(name, file.object("q", shape, layout, made, **fields), canonical=True)

    case("v2_f8", [3], "dense", "F8_E5M2", [("data", "u8", b"\x00\x38\x7f")], {"data": "f8_e5m2"})
    case("v2_f4_odd", [3], "dense", "F4", [("data", "u8", b"\x21\x03")], {"data": "f4_e2m1"})
    case("v2_type_unknown", [99], "dense", "dense", [("data", "u8", b"\1")], {"data": "x.future/1"})
    case("v2_mx", [4], "zt.mx/1", "zt.mx/1", [("data", "u8", b"\x21\x43"), ("scales", "u8", b"\x7f")],
         {"data": "f4_e2m1", "scales": "f8_e8m0"})
    case("v2_layout_unknown", [4], "x.own/1", "x.own/1", [("data", "u8", b"\1\2"), ("more", "u8", b"\3")])
    file = File().tensor("a", "u8", [1], [1])
    data = {"data": file.part("u8", b"\1", encoding=cbor.text("x.z/1"), decoded_length=cbor.integer(9))}
    good("v2_encoding_unknown", file.object("b", [9], "dense", data).tensor("c", "u8", [1], [3]), notes=["skipped"])


def seekable(*frames, sums=None):
    """Frames and the table of their lengths, and perhaps of the checksums of what they decode to."""
    sums = sums or [b""] * len(frames)
    entries = b"".join(struct.pack("<2I", len(stored), size) + sum for (stored, size), sum in zip(frames, sums))
    table = entries + struct.pack("<IB", len(frames), 0x80 if any(sums) else 0) + b"\xb1\xea\x92\x8f"
    return b"".join(stored for stored, _ in frames) + b"\x5e\x2a\x4d\x18" + struct.pack("<I", len(table)) + table


def frame(data):
    return zstd.frame(zstd.raw(data), checksum=zstd.xxh64(data)), len(data)


def make_zstd():
    def case(name, blob, values, **part):
        file = File()
        file.shown.append(dense("w", "u8", [len(values)], values))
        data = file.part("u8", blob, decoded=bytes(values), **part)
        good(name, file.object("w", [len(values)], "dense", {"data": data}))

    case("v2_zstd", seekable(frame(b"\1\2\3")), [1, 2, 3])
    case("v2_zstd_frames", seekable(frame(b"\1\2"), frame(b"\3\4"), frame(b"\5")), [1, 2, 3, 4, 5])
    case("v2_zstd_empty", seekable(), [])
    sums = [zstd.xxh64(data) for data in (b"\1\2", b"", b"\3")]
    frames = frame(b"\1\2"), frame(b""), frame(b"\3")
    case("v2_zstd_checksums", seekable(*frames, sums=sums), [1, 2, 3])
    file = File()
    data = file.part("u8", seekable(*frames, sums=[*sums[:2], bytes(4)]), decoded=b"\1\2\3")
    wrong = file.object("w", [3], "dense", {"data": data}).bytes()
    place = 4096 + len(frames[0][0]) + len(frames[1][0])
    common.bad("ztensor", "v2_zstd_table_checksum.zt", wrong, place, "the checksum in the table is of other data", by="verify")


def make_forms():
    def one(**fields):
        return File().tensor("w", "u8", [2], [1, 2], **fields)

    good("v2_key_unknown", one(fields={"zz": cbor.integer(1)}), notes=["ignored-field"])
    data = one().bytes()
    seen = {"format": "ztensor", "metadata": {}, "tensors": one().shown}
    reserved = data[:-12] + b"\1\0\0\0" + data[-8:]
    common.good("ztensor", "v2_reserved_set.zt", reserved, seen, gaps=[(len(data) - 12, 4)])
    file = one()
    file.body += b"more"
    good("v2_gap", file.tensor("v", "u8", [1], [3]), gaps=[(4098, 4094)])
    file = one()
    file.body += bytes(4096)
    good("v2_gap_of_zeros", file.tensor("v", "u8", [1], [3]), gaps=[(4098, 8190)])
    shard = {"format": "ztensor", "metadata": {}, "tensors": [], "note_kinds": ["skipped"]}
    common.good("ztensor", "v2_data_shard.zt", MAGIC + footer(0, b"", hash=0), shard)


def refuse_frames():
    manifest = ordered({"objects": cbor.mapping()})
    body = MAGIC + bytes(4088)

    def case(name, why, end, start=body):
        refuse("v2_" + name, why, start + manifest + end)

    refuse("v2_cut", "no room for a footer", MAGIC + bytes(39))
    case("end_magic", "the end is not the beginning", footer(4096, manifest, end=b"")[:32] + AT + b"\x89ZT3\r\n\x1a\n")
    case("version_3", "no such version", footer(4096, manifest)[:24] + AT + struct.pack("<II", 3, 0) + MAGIC)
    case("manifest_misaligned", "a multiple of 4096", AT + footer(4097, manifest[1:]))
    case("manifest_beyond", "it would reach into the footer", AT + footer(4096, manifest, size=11))
    case("manifest_at_0", "the magic is there", AT + footer(0, body + manifest))
    end = footer(4096, manifest, hash=7)
    refuse("v2_manifest_hash", "the checksum is another", body + AT + manifest + end)


def refuse_spelling():
    def case(name, why, marked):
        refuse("v2_" + name, why, described(marked))

    def attributed(marked):
        return b"\xa2" + cbor.text("objects") + cbor.mapping() + cbor.text("attributes") + marked

    case("open_map", "a length that is not stated", AT + b"\xbf" + cbor.text("objects") + b"\xa0\xff")
    case("long_head", "one byte would do", attributed(b"\xa1" + AT + b"\x78\x01a" + cbor.NULL))
    case("keys_unsorted", "shorter keys come first",
         attributed(b"\xa2" + cbor.text("bb") + cbor.NULL + AT + cbor.text("a") + cbor.NULL))
    case("key_twice", "a key is there once", attributed(b"\xa2" + cbor.text("a") + cbor.NULL + AT + cbor.text("a") + cbor.NULL))
    case("float_wide", "half the bytes would do", attributed(b"\xa1" + cbor.text("a") + AT + cbor.single(0.5)))
    case("nan_other", "there is one NaN", attributed(b"\xa1" + cbor.text("a") + AT + b"\xf9\x7e\x01"))
    case("tag", "there are no tags", attributed(b"\xa1" + cbor.text("a") + AT + cbor.tag(1, cbor.NULL)))
    case("undefined", "no such value", attributed(b"\xa1" + cbor.text("a") + AT + cbor.UNDEFINED))
    case("not_utf8", "text is UTF-8", attributed(b"\xa1" + AT + b"\x61\xff" + cbor.NULL))
    case("deep", "32 levels at most", attributed(b"\xa1" + cbor.text("a") + b"\x81" * 30 + AT + b"\x80"))
    case("trailing", "one item", ordered({"objects": cbor.mapping()}) + AT + b"\0")
    case("no_objects", "there are objects", AT + cbor.mapping())
    case("attribute_number", "the name of an attribute is text", attributed(b"\xa1" + AT + b"\1" + cbor.NULL))
    case("attribute_nul", "no zero in a name", attributed(b"\xa1" + AT + cbor.text("\0") + cbor.NULL))


def refuse_fields():
    def part(name, why, **fields):
        refuse("v2_" + name, why, File().tensor("w", "u8", [2], [1, 2], **fields).bytes())

    def whole(name, why, shape=(2,), layout="dense", mark=None, **fields):
        file = File()
        data = file.part("u8", b"\1\2", **fields)
        shape = (AT if mark == "shape" else b"") + cbor.array(*map(cbor.integer, shape))
        made = cbor.mapping(((AT if mark == "part" else b"") + cbor.text("data"), data))
        refuse("v2_" + name, why, file.object("w", (), layout, {}, shape=shape, parts=made).bytes())

    whole("dtype_unknown", "no such type", mark="part", dtype=cbor.text("bool"))
    whole("type_over_other", "a bool is a u8", mark="part", dtype=cbor.text("i8"), type=cbor.text("bool"))
    whole("decoded_length_alone", "both or neither", mark="part", decoded_length=cbor.integer(2))
    whole("size_wrong", "two bytes for three cells", shape=(3,), mark="part")
    whole("dims_65", "64 dimensions at most", shape=(1,) * 65, mark="shape")
    whole("cells_wrap", "more than 64 bits count", shape=(2**63, 2), mark="shape")
    whole("rows_of_a_vector", "rows are of a matrix", layout="zt.sparse_csr/1", mark="shape")
    part("blob_of_three", "an offset and a length", blob=AT + cbor.array(*map(cbor.integer, (4096, 2, 0))))
    part("blob_of_one", "an offset and a length", blob=AT + cbor.array(cbor.integer(4096)))
    part("digest_upper_case", "lower case", digest=AT + cbor.text("xxh3:" + "A" * 16))
    part("digest_short", "sixteen digits", digest=AT + cbor.text("xxh3:00"))
    part("digest_no_colon", "no algorithm", digest=AT + cbor.text("none"))
    objects = cbor.mapping((AT + cbor.text(""), cbor.mapping()))
    refuse("v2_name_empty", "a name has a byte", File().bytes(objects=objects))
    objects = cbor.mapping((AT + cbor.text("w"), ordered({"shape": cbor.array(), "layout": cbor.text("x"), "parts": cbor.mapping()})))
    refuse("v2_no_parts", "an object has a part", File().bytes(objects=objects))
    shards = cbor.mapping((AT + cbor.text("../x"), ordered({"size": cbor.integer(9), "digest": cbor.text("xxh3:0")})))
    refuse("v2_shard_name", "a shard is no path", File().bytes(shards=shards))


def refuse_places():
    def part(name, why, at, size):
        blob = AT + cbor.array(cbor.integer(at), cbor.integer(size))
        refuse("v2_" + name, why, File().tensor("w", "u8", [2], [1, 2], blob=blob).bytes())

    part("offset_0", "the magic is there", 0, 2)
    part("offset_64", "a multiple of 4096", 64, 2)
    part("offset_beyond", "no such byte", 2**64 - 4096, 2)
    part("into_footer", "a blob ends before the footer", 8192, 4000)
    file = File().tensor("a", "u8", [4100], [0] * 4100)
    file.tensor("b", "u8", [3], [0, 0, 0], at=8192)
    data = file.bytes()
    refuse("v2_overlap", "they overlap in part", data[:8192] + AT + data[8192:])


def refuse_values():
    def case(name, why, file, at):
        data = file.bytes()
        refuse("v2_" + name, why, data[:at] + AT + data[at:], by="verify")

    case("xxh3_wrong", "the checksum is another", File().tensor("w", "u8", [1], [1], digest=cbor.text("xxh3:" + "0" * 16)), 4096)
    case("bool_2", "a truth is 0 or 1", File().tensor("w", "bool", [3], [1, 0, 2]), 4098)
    file = File()
    data = file.part("u8", b"\x21\x43", type=cbor.text("f4_e2m1"))
    case("f4_odd_set", "half a byte too many", file.object("w", [3], "dense", {"data": data}), 4097)
    file = File()
    rows = {"indices": file.part("u64", words(2, 0, 1)), "indptr": file.part("u64", words(0, 2, 3)),
            "values": file.part("u8", b"\1\2\3")}
    case("rows_fall", "columns rise", file.object("w", [2, 3], "zt.sparse_csr/1", rows), 4104)
    file = File()
    blob = seekable(frame(b"\1\2"))
    data = file.part("u8", blob, decoded=b"\1\2\3")
    case("zstd_short", "two bytes come out, three are due", file.object("w", [3], "dense", {"data": data}), 4096)
    file = File()
    data = file.part("u8", blob, decoded=b"\1\3")
    case("zstd_digest", "the checksum is of what comes out", file.object("w", [2], "dense", {"data": data}), 4096)


if __name__ == "__main__":
    raise SystemExit(common.run(make))
