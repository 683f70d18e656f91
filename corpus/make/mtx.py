"""Matrix Market's text: corpus/mtx."""

import common
import mtx_bad
from mtx_file import OPERATIONS, dense, file, sparse


def make():
    fields()
    symmetries()
    numbers()
    layouts_of_text()
    mtx_bad.make()


def fields():
    sparse("real", "real", "general", 3, 2, [(1, 1, "0.1"), (3, 1, "-2.0"), (2, 2, "1e300")], canonical=True)
    sparse("integer", "integer", "general", 2, 2, [(2, 1, "-9223372036854775808"), (1, 2, "9223372036854775807")], canonical=True)
    sparse("unsigned", "unsigned-integer", "general", 1, 2, [(1, 1, "18446744073709551615"), (1, 2, "0")], canonical=True)
    sparse("complex", "complex", "general", 2, 2, [(1, 1, "1.5 -0.0"), (2, 2, "nan inf")], canonical=True)
    sparse("pattern", "pattern", "general", 3, 3, [(2, 1, ""), (1, 3, "")], canonical=True)
    dense("array_real", "real", "general", 2, 3, ["1.0", "2.0", "3.0", "0.1", "-0.0", "5e-324"], canonical=True)
    dense("array_integer", "integer", "general", 2, 2, ["1", "-2", "3", "0"], canonical=True)
    dense("array_unsigned", "unsigned-integer", "general", 1, 1, ["18446744073709551615"], canonical=True)
    dense("array_complex", "complex", "general", 1, 2, ["1.0 2.0", "-inf nan"], canonical=True)
    sparse("empty", "real", "general", 3, 4, [], canonical=True)
    sparse("no_rows", "real", "general", 0, 4, [], canonical=True)
    dense("array_empty", "real", "general", 0, 3, [], canonical=True)


def symmetries():
    for word, more in OPERATIONS.items():
        if word == "general":
            continue
        field = "complex" if word == "hermitian" else "real"
        end = " 0.0" if field == "complex" else ""
        diagonal = [] if word == "skew-symmetric" else [(1, 1, "4.0" + end)]
        below = " 2.0" if field == "complex" else ""
        sparse(f"{more}_sparse", field, word, 3, 3, diagonal + [(2, 1, "0.5" + below), (3, 2, "-1.0" + below)], canonical=True)
        values = ["1.0", "2.0", "3.0"] if word == "skew-symmetric" else ["1.0", "2.0", "3.0", "4.0", "5.0", "6.0"]
        if field == "complex":
            values = [f"{value} {0.0 if place in (0, 3, 5) else 0.5}" for place, value in enumerate(values)]
        dense(f"{more}_array", field, word, 3, 3, values, canonical=True)
    sparse("symmetric_pattern", "pattern", "symmetric", 2, 2, [(1, 1, ""), (2, 1, "")], canonical=True)
    sparse("symmetric_unsigned", "unsigned-integer", "symmetric", 2, 2, [(2, 1, "7")], canonical=True)
    sparse("skew_integer", "integer", "skew-symmetric", 2, 2, [(2, 1, "7")], canonical=True)
    dense("skew_complex_array", "complex", "skew-symmetric", 2, 2, ["1.0 -2.0"], canonical=True)
    dense("skew_of_one", "real", "skew-symmetric", 1, 1, [], canonical=True)
    dense("symmetric_of_none", "real", "symmetric", 0, 0, [], canonical=True)


def numbers():
    """Spellings: canonical ones, and others of the same numbers."""
    canonical = ["nan", "-nan", "nan(0x1)", "-nan(0xfffffffffffff)", "inf", "-inf", "-0.0", "5e-324", "1.7976931348623157e308"]
    dense("specials", "real", "general", len(canonical), 1, canonical, canonical=True)
    others = ["1", "+1", "1.", ".5", "-1E3", "1e+05", "00012", "INF", "Infinity", "NaN", "1e-400", "-0"]
    dense("spellings", "real", "general", len(others), 1, others)
    # Halfway cases and neighbours, rounded to even by IEEE 754.
    hard = ["9007199254740993", "9007199254740992.99999999999999999999", "2.2250738585072011e-308", "0.1" + "0" * 60 + "1",
            "1.00000000000000011102230246251565404236316680908203125", "123456789012345678901234567890"]
    dense("rounding", "real", "general", len(hard), 1, hard)
    sparse("integer_spellings", "integer", "general", 1, 2, [(1, 1, "+5"), (1, 2, "-007")])


def text(name, data, layout, field, symmetry, rows, columns, entries, comments=None, **more):
    show = file(layout, field, symmetry, rows, columns, entries, comments)[1]
    common.good("mtx", f"{name}.mtx", data, show, **more)


def layouts_of_text():
    one = ("coordinate", "real", "general", 2, 2, [(1, 2, "3.0")])
    banner = b"%%MatrixMarket matrix coordinate real general\n"
    text("any_case", b"%%matrixmarket MATRIX Coordinate Real GENERAL\n2 2 1\n1 2 3\n", *one)
    text("double", banner.replace(b"real", b"double") + b"2 2 1\n1 2 3\n", *one)
    text("tabs_and_blank_lines", banner + b"\n \t\n\t2\t2  1 \n\n\n  1 2\t3.0  \n\n \n", *one)
    text("windows", banner.replace(b"\n", b"\r\n") + b"% c\r\n2 2 1\r\n1 2 3\r\n", *one, comments=" c")
    text("no_last_newline", banner + b"2 2 1\n1 2 3", *one)
    text("leading_zeros", banner + b"02 002 01\n01 0002 3\n", *one)
    text("comments", banner + b"% first\n%\n%  second \n2 2 1\n1 2 3.0\n", *one, comments=" first\n\n  second ", canonical=True)
    text("comments_and_blank_lines", banner + b"% first\n\n% second\n2 2 1\n1 2 3.0\n", *one, comments=" first\n second")
    text("empty_comment", banner + b"%\n2 2 1\n1 2 3.0\n", *one, canonical=True)  # as SciPy writes
    text("comment_not_utf8", banner + b"% caf\xe9\n2 2 1\n1 2 3.0\n", *one, comments=b" caf\xe9", canonical=True)
    text("long_comment", banner + b"%" + b"x" * 5000 + b"\n2 2 1\n1 2 3.0\n", *one, comments="x" * 5000, canonical=True)
    rows = [(2, 2, "4.0"), (1, 1, "1.0"), (2, 1, "2.0")]
    sparse("in_any_order", "real", "general", 2, 2, rows)
    sparse("zeros_are_kept", "real", "general", 2, 2, [(1, 1, "0.0"), (2, 2, "-0.0")], canonical=True)
    common.huge("mtx", "large.mtx", banner + b"4294967295 4294967296 1\n4294967295 4294967296 1.0\n", 4294967295 * 4294967296)


if __name__ == "__main__":
    raise SystemExit(common.run(make))
