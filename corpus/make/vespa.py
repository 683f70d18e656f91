"""Vespa's typed binary format, `.tbf`.

The fields of a file, in order: tag, [cell type], [mapped names], [indexed names and sizes], [block count], blocks.
Every number in a header is a "1_4_int", every text a "small_string", everything is big-endian.
"""

import math
import struct

import common
from cells import pack, shown
from marked import AT, split

SPARSE, DENSE, MIXED, WITH_CELL_TYPE = 1, 2, 3, 4  # bits of the tag
CELL_TYPES = {"f64": 0, "f32": 1, "bf16": 2, "i8": 3}


def short(value):
    """A 1_4_int: one byte below 128, else four with the top bit set."""
    return bytes([value]) if value < 128 else long(value)


def long(value):
    """The four-byte form, which readers take for any value and writers use only when they must."""
    return struct.pack(">I", value | 0x80000000)


def field(value, number=short):
    """One field: an int is a 1_4_int, a str a small_string, a float an f64 cell, bytes are themselves."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, int):
        return number(value)
    if isinstance(value, float):
        return struct.pack(">d", value)
    return number(len(value.encode())) + value.encode()


def fields(*values, number=short):
    return b"".join(field(value, number) for value in values)


def encode(tag, dtype, mapped, indexed, blocks, number=short):
    """A whole file. `indexed` is {name: size}; a block is (labels, cells)."""
    out = [tag]
    if tag & WITH_CELL_TYPE:
        out += [CELL_TYPES[dtype]]
    if tag & SPARSE:
        out += [len(mapped), *mapped]
    if tag & DENSE:
        out += [len(indexed), *(part for dim in indexed.items() for part in dim)]
    if mapped or not tag & DENSE:
        out += [len(blocks)]
    for labels, values in blocks:
        out += [*labels, pack(dtype, values, ">")]
    return fields(*out, number=number)


def usual_tag(dtype, mapped, indexed):
    """The tag a Vespa writer picks: nothing said that could be left unsaid."""
    dimensions = (SPARSE if mapped else 0) | (DENSE if indexed or not mapped else 0)
    return dimensions | (WITH_CELL_TYPE if dtype != "f64" else 0)


def show(dtype, mapped, indexed, blocks, notes=None):
    """What `show --json` must print. Without mapped dimensions the one block is all of a dense tensor."""
    dims = [{"name": name, "mapped": True} for name in mapped]
    dims += [{"name": name, "size": size} for name, size in indexed.items()]
    shape = [dim.get("size") for dim in dims]
    tensor = {"key": [], "state": None, "name": "", "dtype": dtype, "shape": shape, "dims": dims,
              "storage": "sparse" if mapped else "dense", "symmetries": [], "metadata": {}}
    if mapped:
        tensor["cells"] = [{"at": list(labels), "data": shown(dtype, values)} for labels, values in blocks]
    else:
        tensor["data"] = shown(dtype, blocks[0][1])
    seen = {"format": "vespa", "metadata": {}, "tensors": [tensor]}
    return seen if notes is None else {**seen, "note_kinds": notes}


def good(name, blocks, mapped=(), indexed=None, dtype="f64", tag=None, number=short, notes=None, writable=True):
    """A readable file; canonical if a Vespa writer would have chosen its tag and its numbers."""
    indexed = indexed or {}
    usual = usual_tag(dtype, mapped, indexed)
    tag = usual if tag is None else tag
    data = encode(tag, dtype, mapped, indexed, blocks, number)
    canonical = writable and tag == usual and number is short
    common.good("vespa", name + ".tbf", data, show(dtype, mapped, indexed, blocks, notes), canonical=canonical)


def refuse(name, why, *parts, **more):
    """A file of these fields is refused at the one marked `AT`."""
    data, at = split(fields(*parts))
    common.bad("vespa", name + ".tbf", data, at, why, **more)


def dense(*values):
    """The only block of a tensor without mapped dimensions."""
    return [((), values)]


def make():
    make_dense()
    make_sparse()
    make_mixed()
    make_scalars()
    make_names_and_labels()
    make_long_numbers()
    make_huge()
    refuse_headers()
    refuse_dimensions()
    refuse_blocks()
    refuse_truncated()
    refuse_counts()


SPECIAL = (0.0, -0.0, 1.5, math.inf, -math.inf, math.nan)


def make_dense():
    good("dense_f64", dense(*SPECIAL, 5e-324, 1.7976931348623157e308), indexed={"x": 8})
    good("dense_f32", dense(*SPECIAL, 2.0**-149, common.f32(0.1)), indexed={"x": 8}, dtype="f32")
    good("dense_bf16", dense(*SPECIAL, 2.0**-133, 0.10009765625), indexed={"x": 8}, dtype="bf16")  # the last is 3dcd
    good("dense_i8", dense(-128, -1, 0, 127), indexed={"x": 2, "y": 2}, dtype="i8")
    # The last indexed dimension is nested innermost.
    good("dense_2d", dense(1.0, 2.0, 3.0, 4.0, 5.0, 6.0), indexed={"x": 2, "y": 3})
    good("dense_3d", dense(*range(24)), indexed={"a": 2, "b": 3, "c": 4}, dtype="i8")
    good("dense_sizes_of_one", dense(7.0), indexed={"a": 1, "b": 1, "c": 1}, dtype="f32")
    # The cell type may be said where it need not be, and a mixed tensor may have no mapped dimension.
    good("dense_says_f64", dense(1.0, 2.0), indexed={"x": 2}, tag=DENSE | WITH_CELL_TYPE)
    good("dense_as_mixed", dense(1.0, 2.0), indexed={"x": 2}, tag=MIXED)
    good("dense_as_mixed_i8", dense(1, -2), indexed={"x": 2}, dtype="i8", tag=MIXED | WITH_CELL_TYPE)
    # Names are sorted by bytes: digits of a name are not a number, and upper case < "_" < lower case.
    good("names_sorted_bytewise", dense(1, 2, 3, 4), indexed={"d1": 1, "d10": 2, "d2": 2}, dtype="i8")
    good("names_case_order", dense(1, 2), indexed={"Z": 1, "_a": 2, "a": 1}, dtype="i8")


def make_sparse():
    good("sparse_f64", [(["a"], [1.0]), (["b"], [-2.5])], mapped=["x"])
    good("sparse_f32", [(["a"], [math.inf]), (["b"], [common.f32(0.1)])], mapped=["x"], dtype="f32")
    good("sparse_bf16", [(["a"], [-0.0]), (["b"], [3.140625])], mapped=["x"], dtype="bf16")
    good("sparse_i8", [(["a"], [-128]), (["b"], [127])], mapped=["x"], dtype="i8")
    good("sparse_2d", [(["a", "1"], [1.0]), (["a", "2"], [2.0]), (["b", "1"], [3.0])], mapped=["x", "y"])
    good("sparse_unsorted_blocks", [(["c"], [1.0]), (["a"], [2.0]), (["b"], [3.0])], mapped=["x"])
    good("sparse_no_blocks", [], mapped=["x", "y"], dtype="f32")
    good("sparse_says_f64", [(["a"], [1.0])], mapped=["x"], tag=SPARSE | WITH_CELL_TYPE)
    good("sparse_as_mixed", [(["a"], [1.0]), (["b"], [2.0])], mapped=["x"], tag=MIXED)
    good("sparse_as_mixed_i8", [(["a"], [1])], mapped=["x"], dtype="i8", tag=MIXED | WITH_CELL_TYPE)


def make_mixed():
    good("mixed_f64", [(["a"], [1.0, 2.0]), (["b"], [3.0, 4.0])], mapped=["x"], indexed={"y": 2})
    good("mixed_f32", [(["a"], SPECIAL)], mapped=["x"], indexed={"y": 2, "z": 3}, dtype="f32")
    good("mixed_bf16", [(["a", "b"], [0.5, -0.5])], mapped=["k", "x"], indexed={"y": 2}, dtype="bf16")
    good("mixed_i8", [(["a"], [1, 2, 3]), (["b"], [-1, -2, -3])], mapped=["x"], indexed={"y": 3}, dtype="i8")
    good("mixed_says_f64", [(["a"], [1.0])], mapped=["x"], indexed={"y": 1}, tag=MIXED | WITH_CELL_TYPE)
    good("mixed_no_blocks", [], mapped=["x"], indexed={"y": 3})
    # Mapped names come first, whatever the order of all names together: tensor(a[2],z{}).
    good("mixed_mapped_first", [(["p"], [1.0, 2.0])], mapped=["z"], indexed={"a": 2})


def make_scalars():
    def scalar(name, data, value, notes=None, **more):
        common.good("vespa", f"scalar_{name}.tbf", data, show("f64", [], {}, dense(value), notes), **more)

    scalar("dense", fields(2, 0, 42.0), 42.0, canonical=True)
    scalar("sparse", fields(1, 0, 1, 42.0), 42.0)  # the only scalar with a count
    scalar("mixed", fields(3, 0, 0, 42.0), 42.0)
    scalar("dense_says_f64", fields(6, 0, 0, -0.0), -0.0)
    scalar("sparse_says_f64", fields(5, 0, 0, 1, 42.0), 42.0)
    scalar("mixed_says_f64", fields(7, 0, 0, 0, 42.0), 42.0)
    scalar("sparse_no_cell", fields(1, 0, 0), 0.0)  # no cell means zero
    scalar("sparse_no_cell_says_f64", fields(5, 0, 0, 0), 0.0)
    scalar("long_numbers", fields(2, 0, number=long) + field(42.0), 42.0)

    # A scalar is a double. One implementation writes others, so a lenient read takes them for doubles.
    def other(name, *parts, value):
        data, at = split(fields(*parts))
        scalar(name, data, value, lenient=True, strict_at=at, notes=["lenient"])

    other("f32", 6, AT, 1, 0, pack("f32", [1.5], ">"), value=1.5)
    other("bf16_sparse", 5, AT, 2, 0, 1, pack("bf16", [-2.0], ">"), value=-2.0)
    other("i8_mixed", 7, AT, 3, 0, 0, pack("i8", [-7], ">"), value=-7.0)


def make_names_and_labels():
    # The empty label: Vespa's Java reader refuses it in the sparse tags alone, so only there a word is due.
    good("label_empty_sparse", [([""], [1.0])], mapped=["x"], notes=["empty-label"])
    good("label_empty_sparse_f32", [(["a", ""], [1.0])], mapped=["x", "y"], dtype="f32", notes=["empty-label"])
    good("label_empty_mixed", [([""], [1.0, 2.0])], mapped=["x"], indexed={"y": 2}, notes=[])
    good("label_empty_mixed_i8", [([""], [1])], mapped=["x"], indexed={"y": 1}, dtype="i8", notes=[])
    # Labels are texts. A label that looks like a number is not one.
    like_numbers = ["0", "00", "007", "-1", "1e3", "9223372036854775808"]
    good("label_like_number", [([label], [at]) for at, label in enumerate(like_numbers)], mapped=["x"], dtype="i8")
    unicode = ["æøå", "日本", "e\u0301", "\u00e9", "\U0001f600", "\ufeff", "\u202e"]
    good("label_unicode", [([label], [at]) for at, label in enumerate(unicode)], mapped=["x"], dtype="i8")
    control = ["\0", "\n", "\x1b[31m", '"', "'", "\\", "/", "@", " ", "\x7f"]
    good("label_control", [([label], [at]) for at, label in enumerate(control)], mapped=["x"], dtype="i8")
    # A name outside Java's pattern is read with a warning, and never written.
    good("name_with_space", dense(1.0), indexed={"a b": 1}, notes=["odd-name"], writable=False)
    good("name_with_dash_inside", [(["p"], [1.0])], mapped=["a-b"], notes=["odd-name"], writable=False)
    good("name_unicode", dense(1.0), indexed={"høyde": 1}, notes=["odd-name"], writable=False)
    # The pattern: a dash or a digit may begin a name, "$" may follow.
    good("name_all_pattern", dense(1, 2), indexed={"-x": 1, "007": 2, "@a$_B9": 1}, dtype="i8", notes=[])


def make_long_numbers():
    # 127 is the last value of the short form.
    good("size_127", dense(*range(127)), indexed={"x": 127}, dtype="i8")
    good("size_128", dense(*(value - 64 for value in range(128))), indexed={"x": 128}, dtype="i8")
    good("name_128_bytes", dense(1.0), indexed={"n" * 128: 1})
    good("label_127_and_128_bytes", [(["m" * 127], [1.0]), (["m" * 128], [2.0])], mapped=["x"])
    good("blocks_130", [([str(at)], [at % 100]) for at in range(130)], mapped=["x"], dtype="i8")
    good("dims_26", dense(*range(4)), indexed={chr(97 + at): 2 if at in (3, 20) else 1 for at in range(26)}, dtype="i8")
    # Four bytes for a small value are read everywhere: tag, type, counts, lengths, sizes.
    good("long_numbers_dense", dense(1.0, 2.0), indexed={"x": 2}, dtype="f32", number=long)
    good("long_numbers_sparse", [(["a"], [1.0])], mapped=["x"], number=long)
    good("long_numbers_mixed", [(["a"], [1, 2])], mapped=["x"], indexed={"y": 2}, dtype="i8", number=long)


def make_huge():
    def huge(name, indexed, dtype="f64"):
        data = encode(usual_tag(dtype, ["k"], indexed), dtype, ["k"], indexed, [])
        common.huge("vespa", name + ".tbf", data, math.prod(indexed.values()))

    # No block, so nothing to allocate, however large a block would be.
    huge("no_blocks_2147483647", {"x": 2**31 - 1})
    huge("no_blocks_65536x65536", {"x": 65536, "y": 65536}, "f32")
    huge("no_blocks_62_bits", {"x": 2**31 - 1, "y": 2**31 - 1}, "i8")


def refuse_headers():
    refuse("tag_0", "tag 0 is neither sparse nor dense", AT, 0, 1, 1.0)
    refuse("tag_4", "tag 4 is neither sparse nor dense", AT, 4, 0, 1, 1.0)
    refuse("tag_8", "tag 8 has a bit above the three known", AT, 8, 0, 1.0)
    refuse("tag_10", "tag 10 has a bit above the three known", AT, 10, 0, 1.0)
    refuse("tag_largest", "tag 2147483647 has bits above the three known", AT, 2**31 - 1, 0, 1.0)
    refuse("not_a_tensor", "the tag is the first letter of some JSON", AT, b'{"cells":[]}')
    refuse("cell_type_4", "cell types end at 3", 6, AT, 4, 1, "x", 1, 1.0)
    refuse("cell_type_long_form", "cell types end at 3, in four bytes too", 5, AT, long(4), 1, "x", 0)
    refuse("cell_type_255", "cell types end at 3", 7, AT, 255, 1, "x", 0, 0)


def refuse_dimensions():
    refuse("size_0", "an indexed dimension has at least one cell", 2, 1, "x", AT, 0)
    refuse("size_0_no_blocks", "an indexed dimension has at least one cell, even of no block",
           3, 1, "k", 1, "x", AT, 0, 0)
    refuse("size_0_second", "an indexed dimension has at least one cell", 2, 2, "x", 1, "y", AT, 0)
    refuse("name_empty", "a dimension needs a name", 2, 1, AT, "", 1, 1.0)
    refuse("name_empty_mapped", "a dimension needs a name", 1, 1, AT, "", 0)
    refuse("name_not_utf8", "a name is UTF-8", 2, 1, AT, b"\x02\xff\xfe", 1, 1.0)
    # Both of Vespa's readers sort unsorted names and leave the cells, which mislabels them in silence.
    refuse("names_unsorted_mapped", "mapped names come sorted", 1, 2, "y", AT, "x", 1, "p", "q", 1.0)
    refuse("names_unsorted_indexed", "indexed names come sorted", 2, 2, "y", 1, AT, "x", 1, 1.0)
    refuse("names_sorted_as_numbers", "d10 sorts before d2", 2, 2, "d2", 1, AT, "d10", 1, 1.0)
    refuse("name_twice_mapped", "a name stands once", 1, 2, "x", AT, "x", 0)
    refuse("name_twice_indexed", "a name stands once", 2, 2, "x", 1, AT, "x", 1, 1.0)
    refuse("name_mapped_and_indexed", "a name is mapped or indexed, not both", 3, 1, "x", 1, AT, "x", 1, 0)


def refuse_blocks():
    refuse("block_twice_sparse", "two blocks with one address", 1, 1, "x", 2, "a", 1.0, AT, "a", 2.0)
    refuse("block_twice_same_value", "two blocks with one address, equal or not", 1, 1, "x", 2, "a", 1.0, AT, "a", 1.0)
    refuse("block_twice_mixed", "two blocks with one address", 3, 1, "x", 1, "y", 1, 2, "a", 1.0, AT, "a", 2.0)
    refuse("block_twice_apart", "two blocks with one address",
           1, 2, "x", "y", 3, "a", "b", 1.0, "b", "a", 2.0, AT, "a", "b", 3.0)
    refuse("block_twice_empty_label", "two blocks with one address", 3, 1, "x", 0, 2, "", 1.0, AT, "", 2.0)
    refuse("label_not_utf8", "a label is UTF-8", 1, 1, "x", 1, AT, b"\x02\xc3\x28", 1.0)
    refuse("label_surrogate", "a label is UTF-8, which has no surrogates", 1, 1, "x", 1, AT, b"\x03\xed\xa0\x80", 1.0)
    refuse("scalar_two_cells", "a scalar has at most one cell", 1, 0, AT, 2, 1.0, 2.0)
    # Vespa's own readers stop where the tensor ends; so does a lenient one, with a note.
    refuse("trailing_dense", "a file ends with its last cell", 2, 1, "x", 1, 1.0, AT, b"\0", lenient_ok=True)
    refuse("trailing_sparse", "a file ends with its last cell", 1, 1, "x", 1, "a", 1.0, AT, b"\n", lenient_ok=True)
    refuse("trailing_no_blocks", "a file ends with its last block", 1, 1, "x", 0, AT, b"\0", lenient_ok=True)
    refuse("trailing_scalar", "a scalar is one cell long", 2, 0, 1.0, AT, 2.0, lenient_ok=True)
    refuse("two_tensors", "a file is one tensor", 2, 0, 1.0, AT, 2, 0, 1.0, lenient_ok=True)


def refuse_truncated():
    refuse("empty", "no tag", AT)
    refuse("cut_tag", "one byte of a four-byte tag", AT, b"\x80")
    refuse("cut_before_cell_type", "no cell type", 6, AT)
    refuse("cut_before_mapped", "no number of mapped dimensions", 1, AT)
    refuse("cut_mapped", "half a number of mapped dimensions", 1, AT, b"\x80\x00")
    refuse("cut_before_name", "the second name is missing", 1, 2, "x", AT)
    refuse("cut_name", "a name of five bytes has two", 1, 1, AT, b"\x05ab")
    refuse("cut_before_indexed", "no number of indexed dimensions", 3, 1, "x", AT)
    refuse("cut_before_size", "a dimension without its size", 2, 1, "x", AT)
    refuse("cut_size", "half a size", 2, 1, "x", AT, b"\x80\x01")
    refuse("cut_before_blocks", "no number of blocks", 1, 1, "x", AT)
    # Long labels: the bytes left are enough for the count, yet not for what follows.
    refuse("cut_before_label", "the second label is missing", 1, 2, "x", "y", 1, "a label long enough", AT)
    refuse("cut_label", "a label of forty bytes has nine", 1, 1, "x", 1, AT, b"\x28nine of 40")
    refuse("cut_cell_sparse", "three bytes of an f64", 1, 1, "x", 1, "a label long enough", AT, b"\x3f\xf0\0")
    refuse("cut_cell_mixed", "no cells of the second block",
           7, 3, 1, "x", 1, "y", 1, 2, "a label long enough", b"\1", "another label", AT)
    refuse("cut_cell_dense", "seven bytes of an f64", 2, 1, "x", 1, AT, bytes(7))
    refuse("cut_cell_scalar", "seven bytes of an f64", 2, 0, AT, bytes(7))
    refuse("cut_all_cells", "three cells are due, none is there", 6, 1, 1, "x", 3, AT)


def refuse_counts():
    most = 2**31 - 1
    refuse("mapped_beyond_file", "more mapped dimensions than bytes", 1, AT, most, "x")
    refuse("indexed_beyond_file", "more indexed dimensions than bytes", 2, AT, most, "x", 1)
    refuse("blocks_beyond_file", "more blocks than bytes", 1, 1, "x", AT, most, "a", 1.0)
    refuse("blocks_beyond_file_mixed", "more blocks than bytes", 7, 3, 1, "x", 1, "y", 2, AT, most, "a", b"\1\2")
    refuse("name_beyond_file", "a name longer than the file", 1, 1, AT, most, b"x")
    refuse("label_beyond_file", "a label longer than the file", 1, 1, "x", 1, AT, most, b"a", 1.0)
    refuse("cells_beyond_file", "2147483647 cells are due, none is there", 2, 1, "x", most, AT)
    # 65536^4 = 2^64, which wraps to no cells at all in 64 bits.
    sizes = [part for name in "abcd" for part in (name, 65536)]
    refuse("cells_wrap_to_0", "2^64 cells are due, none is there", 2, 4, *sizes)
    refuse("cells_wrap_to_0_i8", "2^64 cells are due, none is there", 6, 3, 4, *sizes)
    refuse("cells_wrap_no_blocks", "a block of 2^64 cells cannot be addressed", 3, 1, "k", 4, *sizes, 0)
    # 2^61 cells of 8 bytes wrap to no bytes.
    refuse("bytes_wrap_to_0", "2^64 bytes are due, none is there", 2, 3, "a", 2**30, "b", 2**30, "c", 2)


if __name__ == "__main__":
    raise SystemExit(common.run(make))
