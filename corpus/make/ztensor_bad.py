"""zTensor 0.1 files that must be refused. A mark (`AT`) in an index is in front of the CBOR item to blame."""

import struct

import cbor
import zstd
from cells import pack
from marked import AT
from ztensor_file import MAGIC, File, crc, refuse, sha256, with_index

DATA = b"\1\2\3\4"
BODY = File().entry("w", "u8", (4,), DATA).body  # that blob, at 64, and what comes before it


def make():
    refuse_frames()
    refuse_arrays()
    refuse_maps()
    refuse_items()
    refuse_fields()
    refuse_places()
    refuse_checksums()
    refuse_zstd()
    refuse_sparse()


def one(dtype="u8", shape=(4,), blob=DATA, /, **fields):
    """A file of one tensor, with fields of its own; blank up to its index at byte 256."""
    file = File().entry("w", dtype, shape, blob, **fields)
    return file.bytes(padding=bytes(256 - len(file.body)))


def entry(**fields):
    """The one map of such a file, as pairs."""
    return File().entry("w", "u8", (4,), DATA, **fields).entries[0]


def index(marked):
    """A file with that index right behind the blob."""
    return with_index(marked, BODY)


def refuse_frames():
    empty = File().bytes()
    refuse("no_bytes", "no magic", AT)
    refuse("cut_magic", "four bytes of the magic", AT + MAGIC[:4])
    refuse("magic_other", "the magic is ZTEN0001", AT + b"ztensor!" + empty[8:])
    refuse("magic_only", "no index", MAGIC)
    refuse("cut_index_size", "fifteen bytes cannot hold magic and index size", MAGIC + bytes(7))
    refuse("index_size_one_beyond", "the index would begin within the magic", empty[:9] + AT + struct.pack("<Q", 2))
    refuse("index_size_beyond_file", "the index is longer than the file", empty[:9] + AT + struct.pack("<Q", 2**64 - 1))
    # Read from one byte off, the index is something else.
    whole = cbor.array(cbor.open_mapping(*entry()))
    size = struct.pack("<Q", len(whole) - 1)
    refuse("index_size_too_small", "a map where the array is due", BODY + whole[:1] + AT + whole[1:] + size)
    size = struct.pack("<Q", len(whole) + 1)
    refuse("index_size_too_large", "a number where the array is due", BODY + AT + b"\0" + whole + size)
    refuse("trailing_in_index", "the index ends with its array", with_index(cbor.array() + AT + b"\0"))
    refuse("two_arrays", "the index is one array", with_index(cbor.array() + AT + cbor.array()))


def refuse_arrays():
    pairs = entry()
    refuse("root_map", "the index is an array", index(AT + cbor.open_mapping(*pairs)))
    refuse("root_text", "the index is an array", index(AT + cbor.text("[]")))
    refuse("root_null", "the index is an array", index(AT + cbor.NULL))
    refuse("entry_number", "an entry is a map", index(cbor.array(AT + cbor.integer(1))))
    refuse("entry_array", "an entry is a map", index(cbor.array(AT + cbor.array(cbor.text("w")))))
    refuse("entry_missing", "two entries are due, one is there",
           index(cbor.head(cbor.ARRAY, 2) + cbor.mapping(*pairs) + AT))
    refuse("entries_many_missing", "65535 entries are due, none is there", index(cbor.head(cbor.ARRAY, 65535)))
    refuse("array_never_ends", "an open array needs its break", index(b"\x9f" + cbor.mapping(*pairs) + AT))


def refuse_maps():
    pairs = entry()
    joined = b"".join(key + item for key, item in pairs)
    custom = (cbor.text("unit"), cbor.text("mV"))

    def case(name, why, *pairs, each=cbor.open_mapping):
        refuse(name, why, index(cbor.array(each(*pairs))))

    def again(pair):
        return AT + pair[0], pair[1]

    case("name_key_twice", "a key stands once", *pairs, again(pairs[0]))
    case("shape_key_twice", "a key stands once", *pairs, again(pairs[5]), each=cbor.mapping)
    case("custom_key_twice", "a key stands once", *pairs, custom, again(custom))
    nested = cbor.mapping(custom, again(custom))
    case("custom_key_twice_inside", "a key stands once in any map", *pairs, (cbor.text("info"), nested))
    case("key_number", "a key is text", *pairs, (AT + cbor.integer(1), cbor.NULL))
    case("key_bytes", "a key is text", *pairs, (AT + cbor.data(b"unit"), cbor.NULL))
    case("key_not_utf8", "a key is UTF-8", *pairs, (AT + cbor.text(b"\xff"), cbor.NULL))
    for missing in ("name", "offset", "size", "dtype", "shape", "encoding"):
        others = AT + cbor.mapping(*entry(**{missing: None}))
        refuse(f"{missing}_missing", f"an entry needs {missing}", index(cbor.array(others)))
    case("entry_empty", "an entry needs fields", each=lambda: AT + cbor.mapping())
    more = cbor.head(cbor.MAP, len(pairs) + 1)
    refuse("map_pair_missing", "eight pairs are due, seven are there", index(cbor.array(more + joined + AT)))
    refuse("map_never_ends", "an open map needs its break", index(cbor.array(b"\xbf" + joined + AT)))
    case("map_value_missing", "a key needs a value", *pairs, (cbor.text("unit"), AT))


def refuse_items():
    """Items that are no CBOR, as the value of a custom field."""

    def case(name, why, item, **more):
        refuse(name, why, one(unit=item), **more)

    case("item_reserved", "heads 28 to 30 are reserved", AT + b"\x1c")
    case("item_open_number", "a number has no open form", AT + b"\x1f")
    case("item_simple_16", "a simple value below 32 has one byte", AT + b"\xf8\x10")
    case("item_simple_true", "true has one byte", AT + b"\xf8\x15")
    case("item_break_in_array", "a break ends open items alone", cbor.head(cbor.ARRAY, 1) + AT + cbor.BREAK)
    case("item_not_utf8", "text is UTF-8", AT + cbor.text(b"\xc3\x28"))
    case("item_chunk_of_bytes", "chunks of a text are texts", b"\x7f" + cbor.data(b"a") + cbor.BREAK)
    whole = cbor.array(cbor.mapping(*entry(unit=AT + cbor.head(cbor.TEXT, 10) + b"mV")))
    refuse("item_cut", "a text of ten bytes has two", index(whole))
    whole = cbor.array(cbor.mapping(*entry(unit=AT + cbor.head(cbor.TEXT, 2**64 - 1) + b"mV")))
    refuse("item_beyond_file", "a text longer than the file", index(whole))
    whole = cbor.array(cbor.mapping(*entry(unit=AT + b"\x1a\0\0")))
    refuse("item_cut_head", "a head of five bytes has three", index(whole))
    case("item_deep", "5000 arrays in each other", b"\x81" * 5000 + cbor.NULL, kind="limit")


def refuse_fields():
    """A field of the wrong type, or with a value it cannot have."""

    def case(name, why, /, **fields):
        ((key, item),) = fields.items()
        refuse(name, why, one(**{key: item if AT in item else AT + item}))

    case("name_number", "a name is text", name=cbor.integer(1))
    case("name_bytes", "a name is text", name=cbor.data(b"w"))
    case("name_null", "a name is text", name=cbor.NULL)
    case("name_not_utf8", "a name is UTF-8", name=cbor.text(b"\xff\xfe"))
    case("offset_text", "an offset is an integer", offset=cbor.text("64"))
    case("offset_negative", "an offset is not negative", offset=cbor.integer(-64))
    case("offset_float", "an offset is an integer", offset=cbor.half(64.0))
    case("offset_null", "an offset is an integer", offset=cbor.NULL)
    case("size_negative", "a size is not negative", size=cbor.integer(-1))
    case("size_bignum", "a size has 64 bits", size=cbor.tag(2, cbor.data(b"\1" + bytes(8))))
    case("dtype_number", "a dtype is text", dtype=cbor.integer(8))
    case("shape_number", "a shape is an array", shape=cbor.integer(4))
    case("shape_map", "a shape is an array", shape=cbor.mapping())
    case("shape_size_negative", "a size is not negative", shape=cbor.array(AT + cbor.integer(-4)))
    case("shape_size_text", "a size is an integer", shape=cbor.array(cbor.integer(4), AT + cbor.text("1")))
    case("encoding_number", "an encoding is text", encoding=cbor.integer(0))
    case("encoding_null", "an encoding is text", encoding=cbor.NULL)
    case("layout_number", "a layout is text", layout=cbor.integer(0))
    case("checksum_number", "a checksum is text", checksum=cbor.integer(0))
    # Of numbers longer than a byte, so that their order matters.
    for name, order in {"order_other": cbor.text("middle"), "order_bool": cbor.TRUE}.items():
        refuse(name, "a byte order is little or big", one("i32", (1,), data_endianness=AT + order))


def refuse_places():
    def number(value):
        return AT + cbor.integer(value)

    refuse("offset_0", "a blob does not cover the magic", one(offset=number(0)))
    refuse("offset_4", "a blob does not cover the magic", one(offset=number(4)))
    refuse("offset_8", "a blob begins at a multiple of 64", one(offset=number(8)))
    refuse("offset_65", "a blob begins at a multiple of 64", one(offset=number(65)))
    refuse("offset_96", "a blob begins at a multiple of 64", one(offset=number(96)))
    refuse("offset_beyond_file", "a blob lies within the file", one(offset=number(2**20)))
    refuse("offset_wraps", "offset and size come to more than 64 bits",
           one("u8", (64,), bytes(64), offset=number(2**64 - 64)))
    refuse("blob_at_index", "a blob ends before the index", one(offset=cbor.integer(256)))
    into = File().entry("w", "u8", (65,), bytes(65))
    into.body = into.body[:-1]
    refuse("blob_into_index", "a blob ends before the index", into.bytes())
    refuse("size_too_small", "four cells are four bytes", one(size=number(3)))
    refuse("size_too_large", "four cells are four bytes", one(size=number(5)))
    refuse("size_0", "four cells are four bytes", one(size=number(0)))
    refuse("size_beyond_file", "four cells are four bytes", one(size=number(2**64 - 1)))
    refuse("size_of_empty", "no cells are no bytes", one("u8", (0,), size=number(4)))
    refuse("size_of_scalar", "a scalar is one cell", one("f32", (), size=number(8)))
    # Products that come to the size once their upper bits are lost.
    wraps = {"shape_wraps": ("u8", 2**63, 2), "shape_wraps_squared": ("u8", 2**32, 2**32), "bytes_wrap": ("f64", 2**61)}
    for name, (dtype, *sizes) in wraps.items():
        shape = AT + cbor.array(*map(cbor.integer, sizes))
        refuse(name, "2^64 bytes are more than 64 bits count", one(dtype, (), b"", shape=shape))
    inner = File().entry("a", "u8", (128,), bytes(128)).entry("b", "u8", (64,), bytes(64), at=128)
    refuse("overlap_inside", "blobs are one or apart", inner.bytes())
    ahead = File().entry("a", "u8", (128,), bytes(128)).entry("b", "u8", (64,), bytes(64), at=64)
    refuse("overlap_same_start", "blobs are one or apart", ahead.bytes())
    across = File().entry("a", "u8", (128,), bytes(128)).entry("b", "u8", (128,), bytes(128), at=128)
    refuse("overlap_across", "blobs are one or apart", across.bytes(padding=bytes(64)))


def refuse_checksums():
    def case(name, why, checksum, *tensor, **fields):
        refuse(name, why, one(*tensor, **fields, checksum=cbor.text(checksum)), by="verify")

    packed = zstd.frame(zstd.raw(DATA))
    case("crc32c_wrong", "one byte differs", crc(b"\1\2\3\5"))
    case("crc32c_of_padding", "padding is not part of a blob", crc(DATA + bytes(60)))
    case("crc32c_of_decoded", "a checksum is of the bytes as stored", crc(DATA),
         "u8", (4,), packed, encoding=cbor.text("zstd"))
    case("crc32c_of_swapped", "a checksum is of the bytes as stored", crc(pack("i32", [1], "<")),
         "i32", (1,), pack("i32", [1], ">"), data_endianness=cbor.text("big"))
    case("sha256_wrong", "one byte differs", sha256(b"\1\2\3\5"))
    for name, text in {"sha256_short": "sha256:12", "crc32c_short": "crc32c:0x12", "crc32c_no_digit": "crc32c:0x0000000g"}.items():
        refuse(name, "a known checksum has all its digits", one(checksum=AT + cbor.text(text)))


def refuse_zstd():
    """Blobs that do not decode to the four bytes their shape asks for. Opening need not look into them."""

    def case(name, why, blob, sizes=(4,), **more):
        refuse(name, why, one("u8", sizes, blob, encoding=cbor.text("zstd")), **{"by": "verify", **more})

    whole = zstd.frame(zstd.raw(DATA))
    case("zstd_not_zstd", "no frame begins like this", b"not zstd")
    case("zstd_too_short", "three bytes come out", zstd.frame(zstd.raw(DATA[:3])))
    case("zstd_too_long", "five bytes come out", zstd.frame(zstd.raw(DATA + b"\5")))
    case("zstd_too_long_by_frame", "a second frame brings more", whole + zstd.frame(zstd.raw(b"\5")))
    case("zstd_nothing", "no bytes come out", zstd.frame(zstd.raw(b"")))
    case("zstd_bomb", "131072 bytes come out", zstd.frame(zstd.rle(0, 2**17)))
    case("zstd_cut", "the last block is cut", whole[:-1])
    case("zstd_cut_header", "the frame is a magic alone", zstd.MAGIC)
    case("zstd_trailing", "bytes after the frame", whole + b"\0\0\0\0\0")
    case("zstd_block_reserved", "block type 3 is reserved", zstd.frame((3, 4, DATA)))
    lying = zstd.frame(zstd.raw(DATA), content=5)
    case("zstd_content_size_wrong", "the frame tells five bytes and holds four", lying)
    broken = zstd.frame(zstd.raw(DATA), checksum=bytes(4))
    case("zstd_frame_checksum_wrong", "the frame's own checksum differs", broken)
    # More than 65536 bytes from each compressed one: refused before anything is decoded.
    blob = zstd.frame(zstd.rle(0, 2**17))
    for name, size in {"zstd_ratio": len(blob) * 2**16 + 1, "zstd_ratio_huge": 2**62}.items():
        case(name, "so few bytes cannot hold so many", blob, (size,), kind="limit", by="open")


def refuse_sparse():
    def case(name, why, layout, blob):
        refuse(name, why, one("f32", (2, 3), blob, layout=cbor.text(layout)), by="verify")

    value = pack("f32", [1.0], "<")
    case("sparsecoo_outside", "column 3 of three", "sparsecoo", struct.pack("<2Q", 0, 3) + value)
    case("sparsecoo_twice", "one cell twice", "sparsecoo", 2 * (struct.pack("<2Q", 1, 2) + value))
    case("sparsecsr_outside", "column 3 of three", "sparsecsr", struct.pack("<4Q", 0, 1, 1, 3) + value)
