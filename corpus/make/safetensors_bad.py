"""Files that are no safetensors files: corpus/safetensors/bad."""

import struct

import common
from safetensors_file import framed

DATA = struct.pack("<2f", 1.5, -2.5)
PLAIN = '{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
WHOLE = framed(PLAIN, DATA)
NAME = 8 + len('{"')  # where the name of the first tensor stands
START = 8


def bad(name, data, at, why, **more):
    common.bad("safetensors", f"{name}.safetensors", data, at, why, **more)


def header(name, text, why, at=NAME, data=DATA, **more):
    bad(name, framed(text, data), at, why, **more)


def make():
    frames()
    json()
    members()
    shapes()
    offsets()
    lenient()


def frames():
    for length in range(8):
        bad(f"cut_at_{length}", WHOLE[:length], 0, "the file ends in the length of the header")
    for length in (8, 9, 30, 8 + len(PLAIN) - 1):
        bad(f"cut_at_{length}", WHOLE[:length], 0, "the file ends before the header does")
    for length in (len(WHOLE) - 8, len(WHOLE) - 1):
        bad(f"cut_at_{length}", WHOLE[:length], NAME, "the file ends before the values do")
    bad("one_byte_more", WHOLE + b"\0", len(WHOLE), "bytes after the last tensor")
    bad("header_too_long", struct.pack("<Q", 100_000_001) + WHOLE[8:], 0, "the reference reads 100 000 000 bytes")
    bad("header_of_all_ones", b"\xff" * 8 + WHOLE[8:], 0, "2^64 - 1 bytes of header")
    bad("header_of_100_million", struct.pack("<Q", 100_000_000) + WHOLE[8:], 0, "none of them there")
    bad("header_of_nothing", framed("", b"", 1) + DATA, START, "the header is empty")
    bad("header_of_spaces", framed(" ", DATA), START, "the header is empty")
    bad("not_utf_8", WHOLE.replace(b'"w"', b'"\xff"'), NAME, "JSON is UTF-8")
    bad("utf_16", framed(PLAIN.encode("utf-16-le"), DATA), None, "JSON is UTF-8")
    bad("byte_order_mark", framed("\ufeff" + PLAIN, DATA), START, "{ comes first")


def json():
    for name, text, why in [
        ("array", "[]", "the header is an object"),
        ("number", "0", "the header is an object"),
        ("null", "null", "the header is an object"),
        ("text", '"w"', "the header is an object"),
        ("no_end", PLAIN[:-1], "the object has no end"),
        ("two_objects", PLAIN + "{}", "one object"),
        ("nul_padding", PLAIN + "\0\0", "spaces pad the header"),
        ("comma_last", PLAIN[:-1] + ",}", "a comma stands between members"),
        ("comment", PLAIN + "//", "JSON has no comments"),
        ("single_quotes", PLAIN.replace('"', "'"), "JSON has double quotes"),
        ("control_character", PLAIN.replace('"w"', '"\n"'), "a text has no raw control characters"),
        ("lone_surrogate", PLAIN.replace('"w"', r'"\ud800"'), "half of a character"),
        ("bad_escape", PLAIN.replace('"w"', r'"\x77"'), "no such escape"),
    ]:
        header(f"json_{name}", text, why, at=None)
    header("nested_deeply", '{"w":{"x":' + "[" * 1000 + "]" * 1000 + "}}", "nobody nests so deeply", at=None)


def members():
    tensor = PLAIN[5:-1]
    header("name_twice", '{"w":' + tensor + ',"w":' + tensor + "}", "a name repeats", at=NAME + len(tensor) + 5)
    escaped = '{"w":' + tensor + r',"\u0077":' + tensor + "}"
    header("name_twice_escaped", escaped, "a name repeats, spelled otherwise", at=None)
    twice = '{"__metadata__":{},"__metadata__":{}}'
    header("metadata_twice", twice, "a name repeats", at=8 + twice.rindex("__metadata__"), data=b"")
    inner = '{"__metadata__":{"a":"1","a":"1"}}'
    header("metadata_name_twice", inner, "a name repeats", at=8 + inner.rindex("a"), data=b"")
    for name, value in [("number", "1"), ("text", '"pt"'), ("array", "[]"), ("of_number", '{"a":1}'),
                        ("of_null", '{"a":null}'), ("of_object", '{"a":{}}'), ("of_bool", '{"a":true}')]:
        header(f"metadata_{name}", '{"__metadata__":' + value + "}", "metadata is texts", at=None, data=b"")
    for name, value in [("number", "1"), ("null", "null"), ("array", '["F32",[2],[0,8]]'), ("text", '"F32"')]:
        header(f"tensor_{name}", '{"w":' + value + "}", "a tensor is an object", at=None)
    for field in ("dtype", "shape", "data_offsets"):
        header(f"no_{field}", PLAIN.replace(f'"{field}"', '"other"'), "a member is missing")
    header("no_members", '{"w":{}}', "all members are missing")
    twice = PLAIN.replace('"shape":[2]', '"shape":[2],"shape":[2]')
    header("member_twice", twice, "a member repeats", at=8 + twice.rindex("shape"))
    for name, word in [("unknown", "F128"), ("lower_case", "f32"), ("empty", ""), ("with_space", "F32 ")]:
        header(f"type_{name}", PLAIN.replace("F32", word), "no such type", kind="unsupported", lenient_ok=True, at=None)
    header("type_null", PLAIN.replace('"F32"', "null"), "a type is a text", at=None)
    header("type_number", PLAIN.replace('"F32"', "32"), "a type is a text", at=None)


def shapes():
    for name, shape, why in [
        ("null", "null", "a shape is an array"),
        ("number", "2", "a shape is an array"),
        ("object", '{"0":2}', "a shape is an array"),
        ("negative", "[-2]", "a size is not negative"),
        ("minus_zero", "[-0]", "a size has no sign"),
        ("float", "[2.0]", "a size is whole"),
        ("exponent", "[2e0]", "a size is whole"),
        ("text", '["2"]', "a size is a number"),
        ("nested", "[[2]]", "a size is a number"),
        ("leading_zero", "[02]", "no JSON"),
        ("2_64", "[18446744073709551616]", "beyond 64 bits"),
        ("null_inside", "[null]", "a size is a number"),
    ]:
        header(f"shape_{name}", PLAIN.replace("[2]", shape), why, at=None)
    for name, shape, why in [
        ("too_large", "[3]", "12 bytes, not 8"),
        ("too_small", "[1]", "4 bytes, not 8"),
        ("empty", "[0]", "no bytes, not 8"),
        ("scalar", "[]", "4 bytes, not 8"),
        ("overflows", "[4294967296,4294967296]", "2^64 cells"),
        ("wraps_to_two", "[9223372036854775809,2]", "2^64 + 2 cells"),
        ("bits_overflow", "[576460752303423488]", "2^59 cells of 32 bits"),
    ]:
        header(f"shape_{name}", PLAIN.replace("[2]", shape), why)
    late = '{"w":{"dtype":"U8","shape":[4294967296,4294967296,0],"data_offsets":[0,0]}}'
    header("shape_overflows_before_zero", late, "the reference multiplies in order", data=b"")
    many = '{"w":{"dtype":"U8","shape":[' + ",".join(["1"] * 300) + '],"data_offsets":[0,1]}}'
    header("too_many_dims", many, "300 dimensions", at=None, data=b"\0", kind="limit")
    for dtype, size in [("F4", 3), ("F6_E2M3", 2), ("F6_E3M2", 5)]:
        text = f'{{"w":{{"dtype":"{dtype}","shape":[{size}],"data_offsets":[0,{size}]}}}}'
        header(f"bits_of_{dtype.lower()}", text, "bits that are no whole bytes", data=bytes(size))


def two(first, second, data=bytes(8), name="b"):
    """Two tensors of bytes; the place of the second's name."""
    def member(offsets):
        return f'{{"dtype":"U8","shape":[{max(offsets[1] - offsets[0], 0)}],"data_offsets":[{offsets[0]},{offsets[1]}]}}'
    text = f'{{"a":{member(first)},"b":{member(second)}}}'
    return framed(text, data), 8 + text.index(f'"{name}"') + 1


def offsets():
    for name, value in [("null", "null"), ("of_one", "[8]"), ("of_three", "[0,4,8]"), ("number", "8"),
                        ("negative", "[-8,0]"), ("float", "[0.0,8.0]"), ("text", '["0","8"]'), ("none", "[]"),
                        ("object", '{"begin":0,"end":8}'), ("beyond", "[0,18446744073709551616]")]:
        header(f"offsets_{name}", PLAIN.replace("[0,8]", value), "two whole numbers", at=None)
    header("offsets_backwards", PLAIN.replace("[0,8]", "[8,0]"), "the end comes before the beginning")
    header("offsets_late", PLAIN.replace("[0,8]", "[1,9]"), "a hole before the first tensor")
    header("offsets_behind_the_file", PLAIN.replace("[0,8]", "[0,16]"), "16 bytes, 8 are there")
    huge = PLAIN.replace("[0,8]", "[0,18446744073709551615]")
    header("offsets_gigantic", huge, "2^64 - 1 bytes")
    for name, first, second, blamed in [
        ("hole", (0, 3), (4, 8), "b"),
        ("overlap", (0, 5), (4, 8), "b"),
        ("same_bytes", (0, 8), (0, 8), "b"),
        ("inside", (0, 8), (2, 4), "b"),
        ("second_first_with_hole", (5, 8), (0, 4), "a"),
        ("both_late", (1, 4), (4, 8), "a"),
        ("empty_in_a_hole", (0, 4), (5, 5), "b"),
    ]:
        data, at = two(first, second, name=blamed)
        bad(f"tiling_{name}", data, at, "the tensors lie in a row")
    data, _ = two((0, 2), (2, 4))
    bad("tiling_ends_early", data, len(data) - 4, "the tensors reach the end of the file")
    bad("nothing_but_data", framed("{}", DATA), 16, "bytes of no tensor")


def lenient():
    header("space_first", " " + PLAIN, "{ comes first", at=8, lenient_ok=True)
    header("padded_with_a_line", PLAIN + "\n", "spaces pad the header", at=8 + len(PLAIN), lenient_ok=True)
    null = '{"__metadata__":null}'
    header("metadata_null", null, "metadata is an object", at=None, data=b"", lenient_ok=True)
