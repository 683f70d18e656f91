"""FROSTT's files that are refused: corpus/tns/bad."""

import functools

import common

put = functools.partial(common.bad_text, "tns")


def make():
    plain()
    sizes()
    values()


def plain():
    put("empty", "", 0, "no entry, no sizes")
    put("blank", "\n\n", 2, "no entry, no sizes")
    put("only_comments", "# a\n\n# b\n", 9, "no entry, no sizes")
    put("value_alone", "1.5\n", 0, "no index")
    put("index_zero", "1 1 1\n2 0 1\n", "0 1", "indices count from 1")
    put("index_negative", "1 1 1\n-2 1 1\n", "-2", "no index")
    put("index_fraction", "1.0 1 1\n", "1.0", "no index")
    put("index_text", "a 1 1\n", "a", "no index")
    put("index_overflow", "18446744073709551616 1\n", "1844", "64 bits")
    put("fewer_fields", "1 1 1\n2 2\n", 9, "the line ends")
    put("more_fields", "1 1 1\n2 2 2 5\n", "5", "more than an entry")
    put("comment_after_value", "1 1 1 # c\n2 2 2\n", "#", "no number")
    put("space_before_comment", "1 1 1\n # c\n", "#", "no index")
    put("cut_in_an_entry", "1 1 1\n2", 7, "the line ends")
    put("twice", "1 1 1\n2 1 5\n1 1 2\n", None, "an entry is given twice", by="verify")
    put("twice_in_a_row", "2 1 1\n2 1 1\n", None, "an entry is given twice", by="verify")
    put("cells_2_64", "4294967296 1 1\n1 4294967296 1\n", None, "an index counts to 2^64", kind="unsupported")
    put("too_many_dims", " ".join(["1"] * 300) + "\n", None, "more than 255", kind="limit")


def sizes():
    said = "# tenfold: shape "
    put("shape_of_nothing", said + "\n1 1 1\n", 16, "sizes")
    put("shape_negative", said + "-2 2\n1 1 1\n", "-2", "sizes are whole")
    put("shape_text", said + "2 two\n1 1 1\n", "two", "sizes are whole")
    put("shape_overflow", said + "18446744073709551616\n1 1\n", "1844", "64 bits")
    put("shape_exceeded", said + "2 2\n1 3 1\n", "3", "two")
    put("shape_of_other_rank", said + "2 2\n1 1 1 7\n", "7", "two indices, a value")
    put("shape_2_64", said + "4294967296 4294967296\n", None, "an index counts to 2^64", kind="unsupported")
    put("shape_many_dims", said + "1 " * 300 + "\n", None, "more than 255", kind="limit")
    marked = "# extended FROSTT format\n"
    put("extended_nothing", marked, len(marked), "no rank")
    put("extended_no_sizes", marked + "2 1\n", len(marked) + 4, "no sizes")
    put("extended_rank_zero", marked + "0 1\n1.0\n", "0 1", "an entry has an index")
    put("extended_rank_fraction", marked + "2.0 1\n2 2\n1 1 1\n", "2.0", "no rank")
    put("extended_rank_gigantic", marked + "18446744073709551615 1\n2\n", None, "more than 255", kind="limit")
    put("extended_no_count", marked + "2\n2 2\n1 1 1\n", len(marked) + 1, "no count")
    put("extended_three_numbers", marked + "2 1 7\n2 2\n1 1 1\n", "7", "rank and count")
    put("extended_size_missing", marked + "3 1\n2 2\n1 1 1 1\n", len(marked) + 7, "three sizes")
    put("extended_size_too_many", marked + "2 1\n2 2 9\n1 1 1\n", "9", "two sizes")
    put("extended_too_few", "3 2\n2 2 2\n1 1 1 1\n", 18, "two are announced")
    put("extended_none", "3 2\n2 2 2\n", 10, "two are announced")
    put("extended_too_many", "3 1\n2 2 2\n1 1 1 1\n# c\n2 2 2 7\n", "2 2 2 7", "one is announced")
    put("extended_count_gigantic", "3 18446744073709551615\n2 2 2\n1 1 1 1\n", None, "announced, not there")
    put("extended_exceeded", "3 1\n2 2 2\n1 1 3 1\n", "3 1\n", "size 2", nth=1)
    put("extended_index_zero", "3 1\n2 2 2\n1 0 1 1\n", "0 1", "indices count from 1")
    put("extended_empty_dim", "3 1\n2 0 2\n1 1 1 1\n", "1 1 1\n", "no cells")
    put("extended_2_64", "2 1\n4294967296 4294967296\n1 1 1\n", None, "an index counts to 2^64", kind="unsupported")
    put("extended_twice", "2 2\n2 2\n1 1 1\n1 1 2\n", None, "an entry is given twice", by="verify")


def values():
    for name, text in (
        ("text", "abc"), ("hexadecimal", "0x10"), ("fortran", "1d3"), ("two_points", "1.2.3"), ("no_exponent", "1e"),
        ("sign_alone", "-"), ("point_alone", "."), ("two_signs", "--1"), ("too_large", "1e999"), ("comma", "1,5"),
        ("nan_of_nothing", "nan(0x0)"), ("nan_open", "nan(0x1"), ("unicode_digit", "٣"), ("nul", "1\0"), ("complex", "(1,2)"),
    ):
        put(f"value_{name}", f"2 1 7\n2 2 {text}\n", text, "no number")
    put("value_not_utf8", b"1 1 \xff\n", 4, "no number")


if __name__ == "__main__":
    raise SystemExit(common.run(make))
