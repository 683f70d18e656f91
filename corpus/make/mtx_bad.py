"""Matrix Market files that are refused: corpus/mtx/bad."""

import functools

import common

REAL = "%%MatrixMarket matrix coordinate real general\n"

put = functools.partial(common.bad_text, "mtx")


def make():
    banners()
    sizes()
    entries()
    values()


def banners():
    put("empty", "", 0, "no banner")
    put("blank", "\n\n", None, "no banner")
    put("no_banner", "2 2 1\n1 1 1\n", 0, "no banner")
    put("space_before_banner", " " + REAL + "1 1 0\n", 0, "the banner begins the file")
    put("one_percent", REAL[1:] + "1 1 0\n", 0, "two percent signs")
    put("banner_alone", "%%MatrixMarket\n", 14, "no object")
    put("vector", REAL.replace("matrix coordinate", "vector coordinate") + "1 1 0\n", "vector", "only matrices")
    put("layout", REAL.replace("coordinate", "csr") + "1 1 0\n", "csr", "no such layout")
    put("field", REAL.replace("real", "float") + "1 1 0\n", "float", "no such field")
    put("symmetry", REAL.replace("general", "upper") + "1 1 0\n", "upper", "no such symmetry")
    put("no_symmetry", REAL.replace(" general", "") + "1 1 0\n", 37, "no symmetry")
    put("word_too_many", REAL.replace("general", "general dense") + "1 1 0\n", "dense", "five words")
    put("array_of_pattern", "%%MatrixMarket matrix array pattern general\n1 1\n", "pattern", "no values")
    put("real_hermitian", REAL.replace("general", "hermitian") + "1 1 0\n", "hermitian", "complex only")
    pattern = REAL.replace("real", "pattern")
    put("skew_pattern", pattern.replace("general", "skew-symmetric") + "1 1 0\n", "skew", "a pattern has no sign")
    unsigned = REAL.replace("real", "unsigned-integer").replace("general", "skew-symmetric")
    put("skew_unsigned", unsigned + "1 1 0\n", "skew", "no sign")


def sizes():
    put("no_sizes", REAL, len(REAL), "no sizes")
    put("only_comments", REAL + "% a\n\n% b\n", len(REAL) + 9, "no sizes")
    put("no_count", REAL + "2 2\n1 1 1\n", len(REAL) + 3, "a count")
    put("array_count", REAL.replace("coordinate", "array") + "1 1 7\n1\n", "7", "an array has none")
    put("size_negative", REAL + "-2 2 0\n", "-2", "sizes are whole")
    put("size_fraction", REAL + "2.5 2 0\n", "2.5", "sizes are whole")
    put("size_text", REAL + "two 2 0\n", "two", "sizes are whole")
    put("size_overflow", REAL + "18446744073709551616 2 0\n", "1844", "64 bits")
    put("count_overflow", REAL + "2 2 99999999999999999999\n", "9999", "64 bits")
    put("not_square", REAL.replace("general", "symmetric") + "2 3 0\n", "3 0", "square")
    put("cells_2_64", REAL + "4294967296 4294967296 0\n", None, "an index counts to 2^64", kind="unsupported")
    put("count_gigantic", REAL + "2 2 18446744073709551615\n1 1 1\n", None, "announced, not there")
    array = REAL.replace("coordinate", "array")
    put("array_gigantic", array + "4294967295 4294967295\n1\n", None, "announced, not there")


def entries():
    put("too_few", REAL + "2 2 2\n1 1 1\n", len(REAL) + 12, "two are announced")
    put("too_many", REAL + "2 2 1\n1 1 1\n2 2 7\n", "2 2 7", "one is announced")
    put("some_where_none", REAL + "2 2 0\n\n1 1 1\n", "1 1 1", "none is announced")
    array = REAL.replace("coordinate", "array")
    put("array_too_few", array + "2 2\n1\n2\n3\n", len(array) + 10, "four")
    put("array_too_many", array + "2 1\n1\n2\n3.5\n", "3.5", "two")
    put("array_two_on_a_line", array + "2 1\n1 2.5\n", "2.5", "one a line")
    put("row_zero", REAL + "2 2 1\n0 1 1\n", "0 1 1", "rows count from 1")
    put("row_beyond", REAL + "2 2 1\n3 1 1\n", "3 1", "two rows")
    put("column_zero", REAL + "2 2 1\n1 0 1\n", "0 1\n", "columns count from 1")
    put("column_beyond", REAL + "2 2 1\n1 3 1\n", "3 1", "two columns")
    put("row_negative", REAL + "2 2 1\n-1 1 1\n", "-1", "no index")
    put("row_fraction", REAL + "2 2 1\n1.0 1 1\n", "1.0", "no index")
    put("row_overflow", REAL + "2 2 1\n99999999999999999999 1 1\n", "9999", "64 bits")
    put("no_rows", REAL + "0 2 1\n1 1 1\n", "1 1 1", "no rows")
    put("no_column", REAL + "2 2 1\n1\n", len(REAL) + 7, "the line ends")
    put("no_value", REAL + "2 2 1\n1 1\n", len(REAL) + 9, "the line ends")
    put("value_too_many", REAL + "2 2 1\n1 1 1 5.5\n", "5.5", "more than an entry")
    put("value_of_pattern", REAL.replace("real", "pattern") + "2 2 1\n1 1 8\n", "8", "a pattern has none")
    put("comment_among_entries", REAL + "2 2 2\n1 1 1\n% c\n2 2 2\n", "% c", "comments stand before the sizes")
    put("comment_after_value", REAL + "2 2 1\n1 1 1 % c\n", "% c", "more than an entry")
    for word in ("symmetric", "skew-symmetric"):
        put(f"{word}_above".replace("-", "_"), REAL.replace("general", word) + "3 3 1\n1 3 7\n", "1 3 7", "the upper triangle follows")
    put("skew_diagonal", REAL.replace("general", "skew-symmetric") + "3 3 1\n2 2 0\n", "2 2 0", "zero, and not stored")
    hermitian = REAL.replace("general", "hermitian").replace("real", "complex")
    put("hermitian_above", hermitian + "2 2 1\n1 2 3 4\n", "1 2 3", "the upper triangle follows")
    put("hermitian_diagonal", hermitian + "2 2 1\n1 1 3 4\n", None, "its own conjugate", by="verify", lenient_ok=True)
    put("twice", REAL + "2 2 3\n1 1 1\n2 1 5\n1 1 2\n", None, "an entry is given twice", by="verify")
    put("twice_in_a_row", REAL + "2 2 2\n2 1 1\n2 1 1\n", None, "an entry is given twice", by="verify")
    put("cut_in_an_entry", REAL + "2 2 2\n1 1 1\n2", len(REAL) + 13, "the line ends")


def values():
    for name, text in (
        ("text", "abc"), ("hexadecimal", "0x10"), ("fortran", "1d3"), ("two_points", "1.2.3"), ("no_exponent", "1e"),
        ("sign_alone", "-"), ("point_alone", "."), ("two_signs", "--1"), ("too_large", "1e999"), ("comma", "1,5"),
        ("nan_of_nothing", "nan(0x0)"), ("nan_open", "nan(0x1"), ("unicode_digit", "٣"), ("nul", "1\0"),
    ):
        put(f"value_{name}", REAL + f"2 2 1\n2 1 {text}\n", text, "no number")
    put("value_not_utf8", REAL.encode() + b"2 2 1\n1 1 \xff\n", len(REAL) + 10, "no number")
    integer = REAL.replace("real", "integer")
    for name, text in (
        ("fraction", "1.5"), ("exponent", "1e3"), ("beyond", "9223372036854775808"), ("below", "-9223372036854775809"),
    ):
        put(f"integer_{name}", integer + f"2 2 1\n2 1 {text}\n", text, "no integer of 64 bits")
    unsigned = REAL.replace("real", "unsigned-integer")
    put("unsigned_negative", unsigned + "2 2 1\n2 1 -7\n", "-7", "no sign")
    put("unsigned_beyond", unsigned + "2 2 1\n2 1 18446744073709551616\n", "1844", "64 bits")
    complex_ = REAL.replace("real", "complex")
    put("complex_of_one", complex_ + "2 2 1\n1 1 3\n", len(complex_) + 11, "two numbers")
    put("complex_of_three", complex_ + "2 2 1\n1 1 3 4 5\n", "5", "two numbers")
    put("complex_in_brackets", complex_ + "2 2 1\n1 1 (3,4)\n", "(3", "two numbers")


if __name__ == "__main__":
    raise SystemExit(common.run(make))
