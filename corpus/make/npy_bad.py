"""Files that are no `.npy` files, or hold what is no number: corpus/npy/bad."""

import struct

import common
from npy_file import dictionary, header, prefix

PLAIN = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"
DATA = struct.pack("<2f", 1.5, -2.5)
WHOLE = header(PLAIN) + DATA
START = 10  # of the header, in version 1.0
VALUES = len(WHOLE) - len(DATA)


def bad(name, data, at, why, **more):
    common.bad("npy", f"{name}.npy", data, at, why, **more)


def place(text, token):
    """The byte of a version 1.0 file at which `token` stands in the header `text`."""
    return START + text.index(token)


def make():
    prefixes()
    dictionaries()
    shapes()
    types()
    lengths()
    lenient()


def prefixes():
    bad("magic", b"\x92" + WHOLE[1:], 0, "the magic begins with 0x93")
    bad("magic_lower_case", WHOLE[:1] + b"numpy" + WHOLE[6:], 0, "the magic is NUMPY, in capitals")
    for major, minor in [(0, 0), (1, 1), (3, 1), (4, 0), (255, 255)]:
        data = WHOLE[:6] + bytes([major, minor]) + WHOLE[8:]
        bad(f"version_{major}_{minor}", data, None, "no such version", kind="unsupported")
    for length, at, field in [(0, 0, "magic"), (5, 0, "magic"), (6, 6, "version"), (7, 6, "minor version")]:
        bad(f"cut_at_{length}", WHOLE[:length], at, f"the file ends before the {field}")
    for length in (8, 9):
        bad(f"cut_at_{length}", WHOLE[:length], 8, "the file ends before the length of the header")
    for length in (10, 40, VALUES - 1):
        bad(f"cut_at_{length}", WHOLE[:length], 10, "the file ends before the header does")
    bad("version_2_cut_length", prefix(99, 2)[:11], 8, "the file ends in the length of the header")
    bad("version_2_huge_header", prefix(2**32 - 1, 2) + PLAIN.encode(), None, "4 GiB of header", kind="limit")
    bad("version_2_long_header", prefix(2**27, 2) + PLAIN.encode(), 12, "128 MiB of header, none there")
    swapped = WHOLE[:6] + b"\x02\0" + WHOLE[8:]
    bad("version_1_said_to_be_2", swapped, None, "the length is four bytes of both", kind="limit")


def dictionaries():
    for name, text, token, why in [
        ("header_is_a_list", "['descr', '<f4']", "[", "the header is a dictionary"),
        ("header_is_text", "'descr'", "'", "the header is a dictionary"),
        ("key_twice", PLAIN.replace(", }", ", 'shape': (2,)}"), "'shape': (2,)}", "a key repeats"),
        ("key_unknown", PLAIN.replace(", }", ", 'unit': 'm'}"), "'unit'", "there are three keys"),
        ("key_in_capitals", PLAIN.replace("descr", "Descr"), "'Descr'", "there are three keys"),
        ("key_without_quotes", PLAIN.replace("'shape'", "shape"), "shape", "keys are text"),
        ("key_of_bytes", PLAIN.replace("'shape'", "b'shape'"), "b'", "keys are text"),
        ("key_without_value", "{'descr', }", ", ", "a key has a value"),
        ("no_descr", "{'fortran_order': False, 'shape': (2,), }", "{", "descr is missing"),
        ("no_fortran_order", "{'descr': '<f4', 'shape': (2,), }", "{", "fortran_order is missing"),
        ("no_shape", "{'descr': '<f4', 'fortran_order': False, }", "{", "shape is missing"),
        ("no_keys", "{}", "{", "all keys are missing"),
        ("two_commas", PLAIN.replace("False,", "False,,"), ", 'shape'", "a comma separates"),
        ("no_comma", PLAIN.replace("False,", "False"), "'shape'", "a comma separates"),
        ("fortran_order_0", PLAIN.replace("False", "0"), "0", "a number is no bool"),
        ("fortran_order_lower_case", PLAIN.replace("False", "false"), "false", "Python's word is False"),
        ("fortran_order_none", PLAIN.replace("False", "None"), "None", "None is no bool"),
        ("fortran_order_text", PLAIN.replace("False", "'False'"), "'False'", "text is no bool"),
        ("text_without_end", "{'descr': '<f4", "'<f4", "a text ends with its quote"),
        ("text_over_lines", PLAIN.replace("<f4", "<f\n4"), "'<f", "a text ends on its line"),
        ("escape_cut", PLAIN.replace("<f4", r"\x3"), r"\x3", "two digits after \\x"),
        ("escape_by_name", PLAIN.replace("<", r"\N{LESS-THAN SIGN}"), r"\N", "characters by name are not read"),
        ("expression", PLAIN.replace("(2,)", "(1,)*2"), "*2", "nothing is computed"),
        ("call", PLAIN.replace("'<f4'", "exit()"), "exit", "nothing is called"),
        ("comment", PLAIN + " # two numbers", "#", "the dictionary ends the header"),
        ("two_dictionaries", PLAIN + PLAIN, "}{", "the dictionary ends the header"),
    ]:
        at = place(text, token) + (token == "}{")
        bad(name, header(text) + DATA, at, why)
    bad("no_end", header("{'descr': '<f4', ", align=0) + DATA, START + 18, "the dictionary has no end")
    bad("header_of_nothing", prefix(0, 1) + DATA, START, "the header is empty")
    bad("header_of_spaces", header("") + DATA, 64, "the header is empty")
    nul = PLAIN.replace(" }", "\0}")
    bad("nul_in_header", header(nul) + DATA, place(nul, "\0"), "NUL is no space")
    junk = PLAIN.replace("descr", "d\u00e9scr")
    bad("latin_1_key", header(junk) + DATA, place(junk, "'d"), "there are three keys")
    bad("utf_8_key", header(junk, 3) + DATA, place(junk, "'d") + 2, "there are three keys")
    late = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,) \u4e2d }"
    bad("utf_8_junk", header(late, 3) + DATA, place(late, "\u4e2d") + 2, "a comma or the end")
    cut = header(PLAIN, 3).replace(b"descr", b"d\xe9scr").replace(b" \n", b"\n") + DATA
    bad("not_utf_8", cut, 12 + PLAIN.index("'d") + 2, "a header of version 3.0 is UTF-8")


def shapes():
    for name, shape, token, why in [
        ("shape_list", "[2]", "[2]", "a shape is a tuple"),
        ("shape_number", "2", "2, }", "a shape is a tuple"),
        ("shape_in_brackets", "(2)", "(2)", "a tuple of one has a comma"),
        ("shape_comma_alone", "(,)", ",)", "a comma needs a size before it"),
        ("shape_two_commas", "(2,,)", ",), }", "a comma needs a size before it"),
        ("shape_without_end", "(2", "}", "a tuple ends with a bracket"),
        ("shape_negative", "(-2,)", "-2", "a size is not negative"),
        ("shape_float", "(2.0,)", ".0", "a size is whole"),
        ("shape_true", "(True, 2)", "True", "a size is a number"),
        ("shape_none", "(None, 2)", "None", "a size is a number"),
        ("shape_text", "('2',)", "'2'", "a size is a number"),
        ("shape_nested", "((2,),)", "(2,),)", "a size is a number"),
        ("shape_leading_zero", "(02,)", "02", "not a number to Python"),
        ("shape_lower_l", "(2l,)", "l,)", "Python 2 wrote L"),
        ("shape_2_63", "(9223372036854775808,)", "9223", "a size is below 2^63"),
        ("shape_2_64", "(0, 18446744073709551616)", "1844", "a size is below 2^63, also of an empty array"),
        ("shape_of_many_digits", "(" + "9" * 400 + ",)", "9", "a size is below 2^63"),
        ("bytes_2_63", "(2305843009213693952,)", "(2305", "2^61 floats are 2^63 bytes"),
        ("bytes_wrap_to_zero", "(4294967296, 4294967296)", "(4294", "2^66 bytes are not 0"),
        ("bytes_wrap_to_eight", "(4611686018427387904, 2, 2, 2)", "(4611", "2^67 bytes"),
        ("empty_too_large", "(0, 2305843009213693952)", "(0, 2", "NumPy has no such array, empty or not"),
    ]:
        text = PLAIN.replace("(2,)", shape)
        token_at = text.rindex(token) if token == "}" else text.index(token)
        bad(name, header(text) + DATA, START + token_at, why)
    text = PLAIN.replace("(2,)", "(2L,)")
    bad("shape_long_in_version_3", header(text, 3) + DATA, place(text, "L,)") + 2, "Python 2 wrote no 3.0")
    text = dictionary("<f4", [1] * 65)
    bad("too_many_dims", header(text) + DATA[:4], None, "NumPy has 64 dimensions", kind="unsupported")
    text = dictionary("<f4", [1] * 3000)
    bad("far_too_many_dims", header(text) + DATA[:4], None, "3000 dimensions", kind="limit")


def types():
    for name, descr, why in [
        ("object", "'|O'", "pickled objects are not unpickled"),
        ("object_of_8", "'|O8'", "pickled objects are not unpickled"),
        ("text_bytes", "'|S4'", "text is no number"),
        ("text_unicode", "'<U1'", "text is no number"),
        ("raw_bytes", "'<V2'", "nor are raw bytes, bfloat16 among them"),
        ("date", "'<M8[ns]'", "a date is no number"),
        ("duration", "'<m8[s]'", "a duration is no number"),
        ("extended", "'<f16'", "extended precision differs between machines"),
        ("extended_complex", "'<c32'", "extended precision differs between machines"),
        ("structured", "[('x', '<f4'), ('y', '<f4', (2,))]", "a structured type"),
        ("structured_nested", "[(('title', 'x'), [('y', '|u1'), ('', '|V3')])]", "a structured type"),
        ("structured_unicode", "[('\u00e9', '<f4')]", "a structured type"),
        ("subarray", "('<f4', (1,))", "a type with a shape of its own"),
    ]:
        text = PLAIN.replace("'<f4'", descr)
        bad(f"type_{name}", header(text) + DATA, None, why, kind="unsupported")
    text = PLAIN.replace("'<f4'", "[('\u91cd', '<f4')]")
    bad("type_structured_utf_8", header(text, 3) + DATA, None, "a structured type", kind="unsupported")
    for name, descr in [
        ("empty", "''"), ("order_alone", "'<'"), ("two_orders", "'<>f4'"), ("three_bytes", "'<i3'"),
        ("half_complex", "'<c4'"), ("two_byte_bool", "'<b2'"), ("float_by_name", "'float32'"),
        ("no_bytes", "'<f'"), ("wide_integer", "'<i16'"), ("space_after", "'<f4 '"),
    ]:
        text = PLAIN.replace("'<f4'", descr)
        bad(f"type_{name}", header(text) + DATA, 20, "NumPy has no such type, or does not write it so")
    for name, descr in [("number", "4"), ("none", "None"), ("dictionary", "{'x': '<f4'}")]:
        text = PLAIN.replace("'<f4'", descr)
        bad(f"type_is_{name}", header(text) + DATA, 20, "a type is text or a list")
    text = PLAIN.replace("'<f4'", "[('x' '<f4')]")
    bad("type_list_without_comma", header(text) + DATA, place(text, "'<f4'"), "a comma separates")
    text = PLAIN.replace("'<f4'", "[" * 500)
    bad("type_nested_deeply", header(text) + DATA, None, "500 lists in each other", kind="limit")


def lengths():
    bad("no_values", WHOLE[:VALUES], VALUES, "two floats are 8 bytes, none there")
    bad("cut_in_values", WHOLE[:-1], VALUES, "two floats are 8 bytes, 7 are there")
    text = dictionary("<f8", [])
    bad("scalar_cut", header(text) + DATA[:7], len(header(text)), "a scalar has one value")
    text = dictionary("|u1", [2**63 - 1])
    bad("shape_gigantic", header(text) + DATA, len(header(text)), "2^63 - 1 bytes, 8 are there")
    text = dictionary("<c16", [2**30, 2**28], fortran=True)
    bad("shape_gigantic_fortran", header(text, 2) + DATA, len(header(text, 2)), "2^62 bytes, 8 are there")


def lenient():
    bad("one_byte_more", WHOLE + b"\0", len(WHOLE), "the values end the file", lenient_ok=True)
    empty = header(dictionary("<f4", [0]))
    bad("empty_with_values", empty + DATA, len(empty), "an empty array has no values", lenient_ok=True)
    cut = header(PLAIN, end="")
    bad("no_newline", cut + DATA, len(cut) - 1, "a newline ends the header", lenient_ok=True)
    text = PLAIN.replace("<f4", "=f4")
    bad("byte_order_of_which_machine", header(text) + DATA, 20, "native to whom?", lenient_ok=True)
