"""zTensor 0.1, `.zt`. The examples that are refused are in `ztensor_bad.py`, later generations in `ztensor1.py` and `ztensor2.py`."""

import json
import math
import struct

import cbor
import common
import zstd
import ztensor1
import ztensor2
import ztensor_bad
from cells import pack
from marked import AT, split
from ztensor_file import MAGIC, UNSHOWN, File, crc, crc32c, good, opaque, ramp, sha256


def make():
    make_numbers()
    make_shapes_and_names()
    make_checksums()
    make_custom_fields()
    make_carried()
    make_index_forms()
    make_placement()
    make_zstd()
    make_unknown()
    make_sparse()
    ztensor_bad.make()
    ztensor1.make()
    ztensor2.make()


INTEGERS = ("u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64")
FLOATS = {  # name: the least and the greatest number above zero
    "f16": (2.0**-24, 65504.0),
    "bf16": (2.0**-133, 255 * 2.0**120),
    "f32": (2.0**-149, (2 - 2.0**-23) * 2.0**127),
    "f64": (5e-324, 1.7976931348623157e308),
}


def ends(dtype):
    """The least and the greatest integer of a type, and two between."""
    bits = int(dtype[1:])
    half = 2 ** (bits - 1)
    return [0, 1, half, 2 * half - 1] if dtype[0] == "u" else [-half, -1, 1, half - 1]


def make_numbers():
    def case(name, order):
        file = File()
        for dtype in INTEGERS:
            file.tensor(dtype, dtype, [4], ends(dtype), order)
        good(f"integers_{name}", file, canonical=True)
        file = File()
        for dtype, (least, most) in FLOATS.items():
            file.tensor(dtype, dtype, [8], [0.0, -0.0, 1.5, least, -most, math.inf, -math.inf, math.nan], order)
        good(f"floats_{name}", file, canonical=True)

    case("little", "<")
    case("big", ">")
    # A missing byte order means little-endian; on single bytes a byte order has no effect.
    good("order_absent", File().tensor("w", "i16", [2], [1, -2], data_endianness=None))
    good("order_on_bytes", File().tensor("w", "u8", [2], [1, 2], data_endianness=cbor.text("big")))
    good("bool", File().tensor("mask", "bool", [3], [0, 1, 0]), canonical=True)
    good("bool_any_byte", File().tensor("mask", "bool", [2, 2], [0, 1, 2, 255]))  # non-zero is true


def make_shapes_and_names():
    good("empty", File(), canonical=True)  # 17 bytes
    scalars = File().tensor("u8", "u8", [], [7]).tensor("bool", "bool", [], [1]).tensor("f64", "f64", [], [-0.0])
    good("scalars", scalars, canonical=True)
    good("row_major", File().tensor("w", "u16", [2, 3, 4], ramp([2, 3, 4])), canonical=True)
    good("sizes_of_one", File().tensor("w", "f32", [1, 1, 1, 1, 1, 1, 1, 1, 1, 1], [0.5]), canonical=True)
    # An empty blob has a place too: the next multiple of 64, where a neighbour or the index may begin.
    file = File().tensor("before", "f32", [2, 0, 3], []).tensor("w", "u8", [3], [1, 2, 3])
    good("zero_sizes", file.tensor("after", "i64", [0], []), canonical=True)
    good("zero_size_beside_huge", File().tensor("w", "u8", [4294967296, 0], []), canonical=True)
    # A name is any text, and stays one segment.
    names = ["", "\0", "a\nb", "\x1b[31m"]
    names += ["enc.w", "enc/w", "enc\\w@Adam.m1", "重み", "\U0001f600", "e\u0301", "\u00e9"]
    file = File()
    for at, name in enumerate(names):
        file.tensor(name, "u8", [], [at])
    good("names", file, canonical=True)
    good("name_long", File().tensor("n" * 300, "u8", [], [1]), canonical=True)
    file = File()
    for at in range(25):  # beyond 23 entries the array's head has two bytes
        file.tensor(f"t{at}", "u8", [], [at])
    good("tensors_25", file, canonical=True)


def make_checksums():
    def one(checked_by, **more):
        return File().tensor("w", "f32", [2], [1.0, 2.0], checked_by=checked_by, **more)

    good("crc32c", one(crc), canonical=True)
    good("crc32c_lower_case", one(lambda blob: f"crc32c:0x{crc32c(blob):08x}"))
    good("crc32c_big_endian", one(crc, order=">"), canonical=True)  # over the bytes as stored
    good("crc32c_empty", File().tensor("w", "f32", [0], [], checked_by=crc), canonical=True)  # crc32c:0x00000000
    good("sha256", one(sha256))
    # Only the spelling above is a checksum; any other is passed over with a word.
    good("checksum_md5", one(lambda _: "md5:00000000000000000000000000000000"), notes=["unknown-checksum"])
    good("checksum_without_0x", one(lambda blob: f"crc32c:{crc32c(blob):08X}"), notes=["unknown-checksum"])
    good("checksum_upper_case", one(lambda blob: crc(blob).replace("crc32c", "CRC32C")), notes=["unknown-checksum"])
    good("checksum_no_colon", one(lambda _: "none"), notes=["unknown-checksum"])


def make_custom_fields():
    # As the reference writes them: keys in order, floats no wider than they need be.
    usual = {
        "": (cbor.text("the empty key"), "the empty key"),
        "bytes": (cbor.data(b"\0\xff"), common.b64(b"\0\xff")),
        "false": (cbor.FALSE, False),
        "float16": (cbor.half(-1.5), -1.5),
        "float32": (cbor.single(65537.0), 65537.0),
        "float64": (cbor.double(0.1), 0.1),
        "list": (cbor.array(cbor.integer(1), cbor.text("a"), cbor.array()), [1, "a", []]),
        "map": (cbor.mapping((cbor.text("a"), cbor.integer(24)), (cbor.text("b"), cbor.mapping())),
                {"a": 24, "b": {}}),
        "negative": (cbor.integer(-25), -25),
        "null": (cbor.NULL, None),
        "true": (cbor.TRUE, True),
        "unit": (cbor.text("mV"), "mV"),
        "数": (cbor.integer(2**64 - 1), 2**64 - 1),
    }
    good("custom_fields", File().tensor("w", "u8", [1], [1], custom=usual), canonical=True)
    # What the reference would not write, and CBOR allows.
    unusual = {
        "bignum": (cbor.tag(2, cbor.data(b"\1" + bytes(8))), {"$tag": [2, common.b64(b"\1" + bytes(8))]}),
        "date": (cbor.tag(1, cbor.integer(1700000000)), {"$tag": [1, 1700000000]}),
        "infinity": (cbor.half(math.inf), "Infinity"),
        "integer keys": (cbor.mapping((cbor.integer(1), cbor.TRUE)), UNSHOWN),
        "least": (cbor.integer(-(2**64)), -(2**64)),
        "long integer": (cbor.integer(1, width=8), 1),
        "nan": (cbor.double(math.nan), "NaN"),
        "open bytes": (cbor.open_data(b"\1", b"", b"\2"), common.b64(b"\1\2")),
        "open list": (cbor.open_array(cbor.integer(1), cbor.open_array()), [1, []]),
        "open map": (cbor.open_mapping((cbor.text("k"), cbor.NULL)), {"k": None}),
        "open text": (cbor.open_text("a", "", "b"), "ab"),
        "simple": (cbor.simple(16), {"$simple": 16}),
        "simple 255": (cbor.simple(255), {"$simple": 255}),
        "tag in tag": (cbor.tag(55799, cbor.tag(32, cbor.text("a:b"))), {"$tag": [55799, {"$tag": [32, "a:b"]}]}),
        "undefined": (cbor.UNDEFINED, {"$simple": 23}),
        "wide float": (cbor.double(0.5), 0.5),
        "zero": (cbor.half(-0.0), -0.0),
    }
    good("custom_fields_unusual", File().tensor("w", "u8", [1], [1], custom=unusual))
    item, seen = cbor.integer(0), 0
    for _ in range(16):
        item, seen = cbor.array(item), [seen]
    good("custom_fields_deep", File().tensor("w", "u8", [1], [1], custom={"nest": (item, seen)}), canonical=True)


def make_carried():
    """Files whose tensors carry more than the format has words for: docs/carried.md."""
    def carried(name, fields):
        text = json.dumps({"version": 1, "name": name, "shape": [2, 2], **fields}, separators=(",", ":"))
        return {"tenfold": (cbor.text(text), text)}

    symmetry = {"permutation": [1, 0], "operation": "x", "packed": True}
    name = "enc/w@Adam.m1"
    fields = {"file": [["about", {"f32": "3f800000"}]], "symmetries": [symmetry], "dims": ["x", None],
              "metadata": [["large", 2**70]], "key": {"path": ["enc", "w"], "state": "Adam.m1"}}
    file = File().tensor(name, "f32", [2, 2], [1.0, 2.0, 2.0, 3.0], custom=carried(name, fields))
    file.tensor("enc/b", "u8", [2, 2], [1, 2, 3, 4],
                custom=carried("enc/b", {"key": {"path": ["enc", "b"], "state": None}}))
    first, second = file.shown
    first.update(key=["enc", "w"], state="Adam.m1", symmetries=[symmetry], metadata={"large": 2**70},
                 dims=[{"name": "x", "size": 2}, {"name": None, "size": 2}])
    second.update(key=["enc", "b"], metadata={})
    seen = {"format": "ztensor", "metadata": {"about": 1.0}, "tensors": file.shown}
    common.good("ztensor", "carried.zt", file.bytes(), seen, canonical=True)

    # What does not fit the tensor stays the text it is.
    fields = {"dims": ["x"]}
    good("carried_unfit", File().tensor("w", "u8", [2, 2], [1, 2, 3, 4], custom=carried("w", fields)),
         notes=["not-restored"])


def two():
    return File().tensor("a", "u8", [2], [1, 2]).tensor("b", "i32", [1], [-3])


def make_index_forms():
    good("maps_definite", two(), each=cbor.mapping)
    good("array_open", two(), root=cbor.open_array)
    good("array_open_maps_definite", two(), root=cbor.open_array, each=cbor.mapping)
    good("array_empty_open", File(), root=cbor.open_array)
    file = two()
    for entry in file.entries:
        entry.reverse()
    good("keys_in_another_order", file)
    good("layout_absent", File().tensor("w", "u8", [2], [1, 2], layout=None))  # the page has no layout: dense
    good("optional_null", File().tensor("w", "u16", [1], [258], data_endianness=cbor.NULL, checksum=cbor.NULL))
    wide = {"offset": cbor.integer(64, width=8), "size": cbor.integer(6, width=4),
            "shape": cbor.array(cbor.integer(2, width=2), cbor.integer(3, width=1))}
    good("long_integers", File().tensor("w", "u8", [2, 3], ramp([2, 3]), **wide))
    opened = {"name": cbor.open_text("we", "ight"), "dtype": cbor.open_text("uint", "8"),
              "shape": cbor.open_array(cbor.integer(2)), "encoding": cbor.open_text("raw")}
    good("open_texts", File().tensor("weight", "u8", [2], [1, 2], **opened))
    # An index of no bytes at all, where an empty array is due: the reference takes it.
    data, at = split(MAGIC + AT + struct.pack("<Q", 0))
    seen = {"format": "ztensor", "metadata": {}, "tensors": [], "note_kinds": ["lenient"]}
    common.good("ztensor", "index_size_0.zt", data, seen, lenient=True, strict_at=at)


def make_placement():
    file = two()
    file.entries.reverse()
    file.shown.reverse()
    good("tensors_out_of_order", file)
    good("padding_before_index", two(), padding=bytes(60))
    file = File()
    at = file.place(b"\1\2", padding=b"\xee")
    good("padding_not_zero", file.tensor("w", "u8", [2], [1, 2], at=at), gaps=[(8, 56)])
    file = File()
    file.place(b"bytes of no tensor")
    good("gap", file.tensor("w", "u8", [2], [1, 2]), gaps=[(8, 120)])
    far = File()
    far.body += bytes(120)
    good("gap_of_zeros", far.tensor("w", "u8", [2], [1, 2]), gaps=[(8, 120)])
    last = File().tensor("w", "u8", [2], [1, 2])
    good("gap_before_index", last, padding=b"x", gaps=[(66, 1)])
    # Two names for one run of bytes, of two types even.
    shared = File().tensor("a", "u8", [4], [0, 0, 128, 63]).tensor("b", "f32", [1], [1.0], at=64)
    good("bytes_shared", shared, notes=["shared-bytes"])
    same = File().tensor("w", "u8", [1], [1]).tensor("w", "u8", [1], [2])
    good("name_twice", same, notes=["duplicate-name"])


def make_zstd():
    def case(name, blob, dtype="u8", values=(1, 2, 3, 4), notes=None, **fields):
        good(name, File().zstd("w", dtype, [len(values)], values, blob, **fields), notes=notes)

    data = bytes([1, 2, 3, 4])
    first, second = zstd.frame(zstd.raw(data[:2])), zstd.frame(zstd.raw(data[2:]), content=2)
    case("zstd", zstd.frame(zstd.raw(data)))  # the reference's frames do not tell their size
    case("zstd_content_size", zstd.frame(zstd.raw(data), content=4))
    case("zstd_frame_checksum", zstd.frame(zstd.raw(data), checksum=zstd.xxh64(data)))
    blocks = zstd.frame(zstd.raw(data[:1]), zstd.rle(2, 3), zstd.literals(data))
    case("zstd_blocks", blocks, values=(1, 2, 2, 2, 1, 2, 3, 4))
    case("zstd_frames", first + second)
    case("zstd_skippable_frame", first + zstd.skippable(b"pass over me") + second)
    case("zstd_rle", zstd.frame(zstd.rle(9, 300), content=300), values=(9,) * 300)
    # The numbers in a zstd blob are little-endian, whatever a byte order says.
    pair = zstd.frame(zstd.raw(pack("i16", [1, -2], "<")))
    case("zstd_i16", pair, "i16", [1, -2])
    case("zstd_order_ignored", pair, "i16", [1, -2], data_endianness=cbor.text("big"), notes=["ignored-field"])
    case("zstd_checksum", pair, "i16", [1, -2], checksum=cbor.text(crc(pair)))  # over the compressed bytes
    case("zstd_no_cells", zstd.frame(zstd.raw(b"")), values=())
    good("zstd_scalar", File().zstd("w", "f64", [], [0.5], zstd.frame(zstd.raw(pack("f64", [0.5], "<")))))
    for dtype in ("bool", "f16", "bf16", "f32", "u64"):
        values = [0, 1] if dtype == "bool" else [3, 1]
        case(f"zstd_{dtype}", zstd.frame(zstd.raw(pack(dtype, values, "<"))), dtype, values)


def make_unknown():
    """What a later version may bring is kept as it is, and harms no other tensor."""

    def case(name, word, **fields):
        file = File().tensor("a", "u8", [1], [1]).entry("b", "u8", [4], b"\1\2\3\4", **fields)
        file.shown.append(opaque("b", "u8", [4], word, b"\1\2\3\4"))
        good(name, file.tensor("c", "u8", [1], [3]))

    case("dtype_unknown", "float8", dtype=cbor.text("float8"))
    case("dtype_other_case", "UINT8", dtype=cbor.text("UINT8"))
    case("encoding_unknown", "lz4", encoding=cbor.text("lz4"))
    case("layout_unknown", "blocked", layout=cbor.text("blocked"))
    case("layout_sparse", "sparse", layout=cbor.text("sparse"))  # named by a README, known to no code


def make_sparse():
    def coo(shape, cells):
        """Records of coordinates and a value."""
        blob = b"".join(struct.pack(f"<{len(shape)}Q", *at) + pack("f32", [value], "<") for at, value in cells)
        return File().sparse("w", "f32", shape, "sparsecoo", blob, cells)

    def csr(shape, starts, cells):
        """Where each row starts, then the columns, then the values."""
        columns = [at[1] for at, _ in cells]
        values = [value for _, value in cells]
        blob = struct.pack(f"<{len(starts)}Q", *starts) + struct.pack(f"<{len(columns)}Q", *columns)
        return File().sparse("w", "f32", shape, "sparsecsr", blob + pack("f32", values, "<"), cells)

    good("sparsecoo", coo([3, 4], [((0, 1), 1.5), ((2, 3), -2.0)]))
    good("sparsecoo_1d", coo([9], [((8,), 1.0)]))
    good("sparsecoo_3d", coo([2, 2, 2], [((1, 0, 1), 0.5)]))
    good("sparsecoo_no_cells", coo([3, 4], []))
    good("sparsecoo_as_long_as_dense", coo([5, 1], [((4, 0), 1.0)]))  # all the reference itself can read
    good("sparsecsr", csr([3, 4], [0, 2, 2, 3], [((0, 0), 1.0), ((0, 3), 2.0), ((2, 1), -3.0)]))
    good("sparsecsr_no_cells", csr([2, 2], [0, 0, 0], []))

    def unfit(name, layout, shape, blob):
        """A blob that its layout cannot have: it is kept as the bytes it is."""
        file = File().entry("w", "f32", shape, blob, layout=cbor.text(layout))
        file.shown.append(opaque("w", "f32", shape, layout, blob))
        good(name, file.tensor("a", "u8", [1], [1]), notes=[])

    unfit("sparsecoo_unfit", "sparsecoo", [3, 4], bytes(21))  # a record is 20 bytes
    unfit("sparsecsr_unfit", "sparsecsr", [1, 4], struct.pack("<3Q", 0, 2, 1) + bytes(4))  # two cells due, one there
    unfit("sparsecsr_cut", "sparsecsr", [3, 4], bytes(24))  # three rows have four starts
    unfit("sparsecsr_3d", "sparsecsr", [1, 2, 2], bytes(16))  # rows are of matrices alone


if __name__ == "__main__":
    raise SystemExit(common.run(make))
