"""FROSTT's text: corpus/tns, from the page of FROSTT and MLIR's two lines of sizes alone."""

import common
import tns_bad


def number(text):
    return float("nan") if "nan" in text.lower() else float(text)


def shown(shape, entries, comments=None):
    """What is shown of a file; `entries` are (indices from 1, text)."""
    cells = [{"at": [index - 1 for index in at], "data": [common.real(number(text))]} for at, text in entries]
    tensor = {
        "key": [],
        "state": None,
        "name": "",
        "dtype": "f64",
        "shape": list(shape),
        "dims": common.dims(*shape),
        "symmetries": [],
        "storage": "sparse",
        "cells": cells,
    }
    metadata = {}
    if comments is not None:
        metadata["tns:comments"] = common.b64(comments) if isinstance(comments, bytes) else comments
    return {"format": "tns", "metadata": metadata, "tensors": [tensor]}


def lines(entries):
    return "".join(" ".join(map(str, at)) + f" {text}\n" for at, text in entries)


def plain(name, shape, entries, before="", **more):
    """A file without a header."""
    common.good("tns", f"{name}.tns", (before + lines(entries)).encode(), shown(shape, entries), **more)


def extended(name, shape, entries, before="", comments=None, **more):
    """A file with the two lines of sizes."""
    header = f"{len(shape)} {len(entries)}\n{' '.join(map(str, shape))}\n"
    common.good("tns", f"{name}.tns", (before + header + lines(entries)).encode(), shown(shape, entries, comments), **more)


def make():
    shapes()
    headers()
    numbers()
    layouts_of_text()
    tns_bad.make()


def shapes():
    plain("vector", (4,), [((1,), "0.1"), ((4,), "-2.0")], canonical=True)
    plain("matrix", (3, 2), [((1, 1), "0.1"), ((2, 2), "1e300"), ((3, 1), "-2.0")], canonical=True)
    plain("order_3", (2, 3, 4), [((1, 1, 4), "1.0"), ((1, 3, 1), "2.5"), ((2, 2, 2), "-3.0")], canonical=True)
    plain("order_4", (2, 1, 2, 2), [((1, 1, 1, 1), "1.0"), ((1, 1, 2, 1), "2.0"), ((2, 1, 1, 2), "3.0")], canonical=True)
    plain("order_8", (2,) * 8, [((1,) * 8, "1.0"), ((2,) * 8, "2.0")], canonical=True)
    plain("one", (1,), [((1,), "7.0")], canonical=True)
    plain("shape_said", (3, 4, 5), [((1, 2, 3), "1.0"), ((2, 4, 1), "2.0")], before="# tenfold: shape 3 4 5\n", canonical=True)
    plain("shape_said_needlessly", (2, 2), [((2, 2), "1.0")], before="# tenfold: shape 2 2\n")
    plain("no_entries", (3, 4), [], before="# tenfold: shape 3 4\n", canonical=True)
    plain("no_cells", (3, 0, 2), [], before="# tenfold: shape 3 0 2\n", canonical=True)
    common.huge("tns", "large.tns", b"4294967295 4294967296 1.0\n", 4294967295 * 4294967296)
    common.huge("tns", "large_extended.tns", b"3 1\n1000000 1000000 1000000\n1000000 1 1000000 1.0\n", 10**18)


def headers():
    marked = "# extended FROSTT format\n"
    entries = [((1, 2, 3), "1.0"), ((2, 1, 1), "2.0")]
    extended("extended", (2, 3, 4), entries, before=marked, comments=" extended FROSTT format", canonical=True)
    extended("extended_any_case", (2, 3, 4), entries, before="#Extended frostt FORMAT\n", comments="Extended frostt FORMAT", canonical=True)
    extended("extended_unmarked", (2, 3, 4), entries, canonical=True)
    extended("extended_matrix", (3, 4), [((1, 2), "1.0")], canonical=True)
    extended("extended_vector", (9,), [((3,), "1.0")], canonical=True)
    extended("extended_empty", (2, 3, 4), [], canonical=True)
    extended("extended_empty_matrix", (3, 4), [], canonical=True)
    extended("extended_no_cells", (0, 4), [], canonical=True)
    comments = " a tensor\n extended FROSTT format\n of a test"
    before = "".join(f"#{line}\n" for line in comments.split("\n"))
    extended("extended_comments", (2, 3, 4), entries, before=before, comments=comments, canonical=True)
    # Two whole numbers on the first line, and yet no header: three entries of a vector.
    plain("like_a_header", (5,), [((2,), "3"), ((4,), "4"), ((5,), "1")])
    # As many as the first says on the second line, but no entry of a matrix follows.
    plain("like_a_header_of_a_matrix", (3,), [((2,), "5"), ((3,), "4")])


def numbers():
    """Spellings: canonical ones, and others of the same numbers."""
    canonical = ["nan", "-nan", "nan(0x1)", "-nan(0xfffffffffffff)", "inf", "-inf", "-0.0", "0.0", "5e-324", "1.7976931348623157e308"]
    plain("specials", (len(canonical),), [((place + 1,), text) for place, text in enumerate(canonical)], canonical=True)
    others = ["1", "+1", "1.", ".5", "-1E3", "1e+05", "00012", "INF", "Infinity", "NaN", "1e-400", "-0", "9007199254740993"]
    plain("spellings", (len(others), 1), [((place + 1, 1), text) for place, text in enumerate(others)])


def layouts_of_text():
    one = ((2, 2), [((1, 2), "3.0"), ((2, 1), "4.0")])

    def text(name, data, comments=None, **more):
        common.good("tns", f"{name}.tns", data, shown(*one, comments), **more)

    text("tabs_and_blank_lines", b"\n \t\n\t1\t2  3.0 \n\n\n  2 1\t4\n\n \n")
    text("windows", b"# c\r\n1 2 3\r\n2 1 4\r\n", comments=" c")
    text("no_last_newline", b"1 2 3\n2 1 4")
    text("leading_zeros", b"01 002 3\n2 0001 4\n")
    text("comments", b"# first\n#\n#  second \n1 2 3.0\n2 1 4.0\n", comments=" first\n\n  second ", canonical=True)
    text("empty_comment", b"#\n1 2 3.0\n2 1 4.0\n", canonical=True)
    text("comment_not_utf8", b"# caf\xe9\n1 2 3.0\n2 1 4.0\n", comments=b" caf\xe9", canonical=True)
    text("comments_between", b"# c\n1 2 3.0\n# between\n2 1 4.0\n# last\n", comments=" c")
    text("in_any_order", b"2 1 4.0\n1 2 3.0\n")


if __name__ == "__main__":
    raise SystemExit(common.run(make))
