"""TENS files that are refused: corpus/tens/bad, at least one for every rule that a file can break.

Where a count or a size says more than the file holds, the count or size is to blame: it is the field that
a reader checks. `at` is None where two fields contradict each other and neither is the wrong one.
"""

import struct

import common
from tens_file import IX, PK, V09, Tens, chunk, dim, header, symmetry

WHOLE = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
MATRIX = Tens("IEEE8", [2, 3]).dense(WHOLE)  # dimensions at 32 and 40, DENSDATA at 48, its size at 56
SQUARE = header(order=2) + dim(2, ord("a")) + dim(2, ord("b"))  # 48 bytes, to be followed by chunks
SQUARE_PAIRS = header(order=2, flags=IX) + SQUARE[32:]
SYMMETRIC = symmetry(b"x", b"ba", PK)  # size at 56, flags at 64, code at 66, map at 67, padding at 69; 24 bytes
ANTISYMMETRIC = symmetry(b"-x", b"ba", PK)
VALUES = chunk(b"DENSDATA", struct.pack("<4d", 1, 2, 2, 3))
PACKED = chunk(b"DENSDATA", struct.pack("<3d", 1, 2, 3))


def bad(name, data, at, why, **more):
    common.bad("tens", f"{name}.tens", data, at, why, **more)


def u32(value):
    return struct.pack("<I", value)


def u64(value):
    return struct.pack("<Q", value)


def patched(data, at, new):
    return data[:at] + new + data[at + len(new) :]


def pair(index, value=1.5):
    return struct.pack("<Qd", index, value)


def make():
    truncated()
    header_fields()
    resources()
    chunks()
    data_chunk()
    symmetry_chunk()
    index_value()
    values()
    version_09()


def truncated():
    """R12: every field must be there; `at` is where the one begins that is not."""
    for length, at, field in [
        (0, 0, "magic"),
        (3, 0, "magic"),
        (6, 4, "version"),
        (11, 8, "number type"),
        (12, 12, "bytes per number"),
        (18, 16, "numbers per element"),
        (22, 20, "order"),
        (24, 24, "flags"),
        (30, 28, "header's zero"),
        (32, 32, "length of the first dimension"),
        (44, 44, "name of the second dimension"),
        (45, 45, "flags of the second dimension"),
        (47, 46, "zero of the second dimension"),
        (48, 48, "data chunk"),
        (52, 48, "magic of the data chunk"),
        (60, 56, "size of the data chunk"),
        (104, 56, "end of the data chunk, as its size gives it"),
    ]:
        bad(f"cut_at_{length}", MATRIX[:length], at, f"R12: the file ends before the {field}")


def header_fields():
    """R3-R5, R8, R9: one wrong field in the header or in a dimension."""
    for name, at, new, why, more in [
        ("magic", 0, b"TENZ", "R1: the magic is TENS", {}),
        ("magic_lower_case", 0, b"tens", "R1: the magic is TENS, in capitals", {}),
        ("version_1_1", 4, u32(0x11000), "R3: version 1.1 is not defined", {"kind": "unsupported"}),
        ("version_2_0", 4, u32(0x20000), "R3: version 2.0 is not defined", {"kind": "unsupported"}),
        ("version_0_8", 4, u32(0x8000), "R3: version 0.8 is not defined", {"kind": "unsupported"}),
        ("version_big_endian", 4, u32(0x100), "R3: integers are little-endian", {"kind": "unsupported"}),
        ("number_type_lower_case", 8, b"ieee", "R5: IEEE is written in capitals", {}),
        ("number_type_mixed_case", 8, b"Uint", "R5: uint or UINT, not a mixture", {}),
        ("number_type_zero", 8, bytes(4), "R5: no number type", {}),
        ("half_precision", 12, u32(2), "R8: IEEE numbers have 4, 8 or 16 bytes, not 2", {}),
        ("x87_precision", 12, u32(10), "R8: IEEE numbers have 4, 8 or 16 bytes, not 10", {}),
        ("ieee_32_bytes", 12, u32(32), "R8, R28: 32 bytes are a slip of version 0.9 alone", {}),
        ("integer_0_bytes", 8, b"uint" + u32(0), "R8: integers have 1, 2, 4, 8 or 16 bytes, not 0", {}),
        ("integer_3_bytes", 8, b"SINT" + u32(3), "R8: integers have 1, 2, 4, 8 or 16 bytes, not 3", {}),
        ("arity_0", 16, u32(0), "R9: an element has 1, 2, 4 or 8 numbers, not 0", {}),
        ("arity_3", 16, u32(3), "R9: an element has 1, 2, 4 or 8 numbers, not 3", {}),
        ("flag_reserved", 24, u32(2), "R4: header flag 1 is reserved", {}),
        ("flag_highest", 24, u32(1 << 31), "R4: header flag 31 is reserved", {}),
        ("header_zero", 28, u32(1), "R4: the header's last field is zero", {"lenient_ok": True}),
        ("dim_flag_reserved", 37, b"\x02", "R4: dimension flag 1 is reserved", {"lenient_ok": True}),
        ("dim_zero", 46, b"\x01\x00", "R4: a dimension's last field is zero", {"lenient_ok": True}),
    ]:
        field = 12 if name.startswith("integer_") else at
        bad(name, patched(MATRIX, at, new), field, why, **more)


def resources():
    """R20, R21: counts are checked before anything is believed or allocated."""
    def ordered(order):
        return patched(MATRIX[:48], 20, u32(order))

    bad("order_too_large", ordered(3), 48, "R21: a third dimension is announced, none is there")
    bad("order_gigantic", ordered(2**32 - 1), None, "R21: 2^32 - 1 dimensions in 48 bytes")
    pairs = Tens("IEEE8", [2**31, 2**31, 2]).pairs([])
    bad("cells_2_to_63_pairs", pairs, None, "R20: the product of the lengths is below 2^63")
    dense = Tens("uint1", [2**32 - 1] * 4).dense([])
    bad("cells_2_to_128_dense", dense, None, "R20: the product of the lengths is below 2^63")
    wrapped = Tens("IEEE8", [2**31, 2**31]).dense([])
    bad("bytes_wrap_to_zero", wrapped, 56, "R25: 2^62 doubles do not fit into 0 bytes, though 2^65 wraps to 0")
    wrapped = Tens("sint16", [2**31, 2**31], arity=8).dense([])
    bad("bytes_wrap_octonions", wrapped, 56, "R25: 2^62 octonions do not fit into 0 bytes")


def chunks():
    """R12: a magic of 8 printable characters, a size of at least 16, a multiple of 8, inside the file."""
    for name, size in [("0", 0), ("8", 8), ("20", 20), ("past_the_end", 400), ("wraps", 2**64 - 8)]:
        data = SQUARE + b"ABCDEFGH" + u64(size) + bytes(8) + VALUES
        bad(f"chunk_size_{name}", data, 56, f"R12: a chunk cannot be {size} bytes long here")
    for name, magic in [("control", b"ABC\tEFGH"), ("delete", b"ABCDEFG\x7f"), ("latin_1", b"\xc4BCDEFGH")]:
        data = SQUARE + chunk(magic, b"") + VALUES
        bad(f"chunk_magic_{name}", data, 48, "R12: a magic has printable ASCII characters only")
    bad("bare_values", SQUARE + VALUES[16:], 48, "R12: version 1.0 has its values in a chunk")
    renamed = SQUARE + VALUES.replace(b"DENSDATA", b"densdata")
    bad("no_data", renamed, len(renamed), "R26: densdata is an unknown chunk, so there is no data")


def data_chunk():
    """R25, R26: one data chunk of exactly the size that the dimensions demand."""
    def sized(count):
        return SQUARE + chunk(b"DENSDATA", bytes(8 * count))

    bad("data_short", sized(3), 56, "R25: three values for four cells")
    bad("data_long", sized(5), 56, "R25: five values for four cells")
    bad("data_size_8", patched(sized(4), 56, u64(8)), 56, "R12: smaller than the chunk's own header")
    bad("data_size_unaligned", patched(sized(4), 56, u64(44)), 56, "R12: not a multiple of 8")
    unpadded = Tens("sint2", [3]).head() + b"DENSDATA" + u64(22) + bytes(6)
    bad("data_size_unpadded", unpadded, 48, "R12: the size counts the padding")
    padded = Tens("sint2", [3]).dense([1, 2, 3])
    bad("data_padding", patched(padded, 62, b"\x01"), 62, "R25: padding is zero", lenient_ok=True)
    end = len(SQUARE + VALUES)
    bad("data_twice", SQUARE + VALUES + VALUES, end, "R26: a second data chunk")
    bad("symmetry_after_data", SQUARE + VALUES + SYMMETRIC, end, "R26: symmetries come before the data")
    bad("trailing_zeros", SQUARE + VALUES + bytes(16), end, "R26: bytes after the data that are no chunk")
    bad("trailing_four_bytes", SQUARE + VALUES + b"TAIL", end, "R26: four bytes are no chunk")
    bad("trailing_magic_alone", SQUARE + VALUES + b"LASTPART", end + 8, "R12: a chunk without a size")
    bad("packed_square_stored", SQUARE + SYMMETRIC + VALUES, 80, "R14: a symmetric 2 x 2 has three values")
    diagonal = SQUARE + ANTISYMMETRIC + PACKED
    bad("packed_diagonal_stored", diagonal, 80, "R15: an antisymmetric diagonal is not stored")
    diagonal = SQUARE + symmetry(b"-x*", b"ba", PK) + PACKED
    bad("packed_real_diagonal_stored", diagonal, 80, "R13, R15: for reals -x* is -x")


def symmetry_chunk():
    """R13, R16, and R4 for its flags."""
    def altered(at, new):
        return patched(SQUARE + SYMMETRIC + PACKED, at, new)

    def unpacked(chunk_):
        return SQUARE + chunk_ + VALUES

    bad("symmetry_flag_reserved", altered(64, b"\x03"), 64, "R4: symmetry flag 1 is reserved")
    bad("symmetry_no_code", unpacked(symmetry(b"", b"ba", 0)), 65, "R13: an operation has a code")
    twice = SQUARE + symmetry(b"2x", b"ba", PK) + PACKED
    bad("symmetry_code_unknown", twice, 66, "R13: packed by an unknown operation", kind="unsupported")
    bad("symmetry_code_binary", unpacked(symmetry(b"\x01", b"ba", 0)), 66, "R13: a code is printable")
    bad("symmetry_size_16", unpacked(chunk(b"SYMMETRY", b"")), 56, "R13: no room for flags, code and map")
    longer = chunk(b"SYMMETRY", SYMMETRIC[16:] + bytes(8))
    bad("symmetry_size_32", SQUARE + longer + PACKED, 56, "R13: eight bytes too many")
    bad("symmetry_code_too_long", altered(65, b"\xff"), None, "R13: a code of 255 characters in 24 bytes")
    bad("symmetry_padding", altered(69, b"\x01"), 69, "R13: padding is zero", lenient_ok=True)
    bad("symmetry_map_unknown", altered(67, b"zb"), 67, "R13: z names no dimension")
    bad("symmetry_map_repeats", altered(67, b"bb"), 67, "R13: bb is no permutation")
    unequal = MATRIX[:48] + symmetry(b"x", b"ba", 0) + MATRIX[48:]
    bad("symmetry_map_unequal", unequal, 67, "R13: exchanges lengths 2 and 3")
    repeated = header(order=2) + dim(2, ord("k")) * 2 + symmetry(b"x", b"kk", 0) + VALUES
    bad("symmetry_names_repeated", repeated, None, "R11: a symmetry needs distinct names")
    unnamed = header(order=2) + dim(2, 0) + dim(2, ord("b")) + symmetry(b"x", b"b\0", 0) + VALUES
    bad("symmetry_name_nul", unnamed, None, "R11: a symmetry needs names that are not NUL")
    twice = SQUARE + SYMMETRIC + ANTISYMMETRIC + PACKED
    bad("dense_packed_twice", twice, 88, "R16: dense data is packed by one symmetry at most")


def index_value():
    """R18, R20: the structure of pairs. Indices are looked at by `verify`."""
    one, note = pair(2), chunk(b"ABCDEFGH", b"")
    end = len(SQUARE_PAIRS) + 8 + len(one)
    bad("pairs_absent", SQUARE_PAIRS, 48, "R18: no count of pairs")
    bad("pairs_count_cut", SQUARE_PAIRS + bytes(5), 48, "R18: the count of pairs is cut short")
    bad("pairs_too_few", SQUARE_PAIRS + u64(2) + one, 48, "R18: two pairs announced, one there")
    bad("pairs_cut", SQUARE_PAIRS + u64(1) + one[:12], 48, "R18: the last pair is cut short")
    bad("pairs_wrap", SQUARE_PAIRS + u64(2**60), 48, "R18: 2^60 pairs of 16 bytes wrap to 0 bytes")
    bad("pairs_trailing", SQUARE_PAIRS + u64(1) + one + b"\0", end, "R18: the last pair ends the file")
    bad("pairs_then_chunk", SQUARE_PAIRS + u64(1) + one + note, end, "R12: no chunks after pairs")
    bad("pairs_in_a_chunk", SQUARE_PAIRS + VALUES, 48, "R18: DENSDATA where the flag promises pairs")
    bad("pairs_without_flag", SQUARE + u64(1) + one, 48, "R18: pairs where the flag promises a chunk")
    padded = Tens("sint4", [4]).pairs([((1,), 5)])
    bad("pairs_padded", padded + bytes(4), len(padded), "R18: pairs are not padded")


def values():
    """R15, R17, R19, R20, R23, R24: only a look at every index and value can tell."""
    def wrong(name, data, at, why, **more):
        bad(name, data, at, why, by="verify", **more)

    def pairs(indices, symmetries=b""):
        return SQUARE_PAIRS + symmetries + u64(len(indices)) + b"".join(map(pair, indices))

    wrong("index_out_of_range", pairs([1, 4]), 72, "R20: index 4 of 4 cells")
    wrong("index_gigantic", pairs([2**64 - 1]), 56, "R20: index 2^64 - 1 of 4 cells")
    big = Tens("UINT2", [4]).head(IX) + u64(1) + struct.pack(">QH", 1, 5)
    wrong("index_big_endian", big, 48, "R18: indices are little-endian, also beside UINT")
    nothing, scalar = Tens("IEEE8", [3, 0]).head(IX), Tens("IEEE8", []).head(IX)
    wrong("index_in_nothing", nothing + u64(1) + pair(0), 56, "R20: index 0 of no cells")
    wrong("index_of_scalar", scalar + u64(1) + pair(1), 40, "R10: a scalar has index 0 alone")
    wrong("index_twice", pairs([1, 3, 3]), None, "R19: the same index twice")
    wrong("index_twice_apart", pairs([3, 0, 1, 3]), None, "R19: the same index twice, not side by side")
    wrong("more_pairs_than_cells", pairs([0, 1, 2, 3, 2]), None, "R19: five pairs for four cells repeat one")
    wrong("orbit_twice", pairs([1, 2], SYMMETRIC), None, "R17: (1,0) and (0,1) are one orbit")
    differing = SQUARE_PAIRS + SYMMETRIC + u64(2) + pair(1, 1.0) + pair(2, 1.0000001)
    wrong("orbit_differs", differing, None, "R17: (1,0) and (0,1) are one orbit, and differ")
    wrong("forced_zero_is_not", pairs([0, 1], ANTISYMMETRIC), 88, "R17: an antisymmetric diagonal is zero")
    wrong("contradiction_is_not_zero", pairs([1], SYMMETRIC + ANTISYMMETRIC), 112, "R17: T = -T is zero")

    def square(number, arity, operation, stored):
        return Tens(number, [2, 2], arity=arity, symmetries=[(operation, "ba", True)]).dense(stored)

    data = square("IEEE8", 2, "x*", [(1.0, 0.5), (1.0, 2.0), (1.0, 0.0)])
    wrong("hermitian_diagonal", data, 88, "R15: a Hermitian diagonal is real", lenient_ok=True)
    data = square("IEEE8", 2, "-x*", [(0.5, 1.0), (1.0, 2.0), (0.0, 1.0)])
    wrong("antihermitian_diagonal", data, 88, "R15: an anti-Hermitian diagonal is imaginary", lenient_ok=True)
    wrong("negated_least_integer", square("sint1", 1, "-x", [-128]), 88, "R23: 128 is no signed byte")
    wrong("negated_unsigned", square("uint2", 1, "-x", [5]), 88, "R23: -5 is no unsigned integer")
    data = square("uint1", 2, "x*", [(1, 0), (2, 3), (1, 0)])
    wrong("conjugated_unsigned", data, 90, "R23: 2 - 3i has no unsigned parts")

    informative = symmetry(b"x", b"ba", 0)
    data = SQUARE + informative + chunk(b"DENSDATA", struct.pack("<4d", 1, 2, 2.000001, 3))
    wrong("symmetry_violated", data, None, "R24: declared symmetric, differs by 5e-7", lenient_ok=True)
    data = pairs([1], informative)
    wrong("symmetry_violated_by_absence", data, None, "R24: the mirror of a pair is zero", lenient_ok=True)


def version_09():
    """R28: IEEE, no flags, and exactly the bytes that the dimensions demand."""
    def old(name, number, arity, payload, at, why, flags=0, **more):
        data = header(number, arity, 1, flags, V09) + dim(2, ord("a")) + bytes(payload)
        common.bad("tens", f"v09_{name}.bin", data, at, why, **more)

    old("short", "IEEE8", 1, 15, 40, "R28: 15 bytes for two doubles")
    old("long", "IEEE8", 1, 17, 56, "R28: 17 bytes for two doubles")
    old("padded", "IEEE4", 1, 16, 48, "R28: version 0.9 has no padding")
    old("integer", "sint8", 1, 16, 8, "R28: version 0.9 knows IEEE alone")
    old("pairs", "IEEE8", 1, 16, 24, "R28: version 0.9 has no flags", flags=IX)
    old("real_32_bytes", "IEEE32", 1, 64, 12, "R28: 32 bytes are a slip of complex files alone")
    old("complex_64_bytes", "IEEE32", 2, 128, None, "R28: 32 always means 16, so this is twice too long")
    old("complex_neither", "IEEE16", 2, 48, None, "R28: neither two complex doubles nor two complex quads")
    old("half_precision", "IEEE2", 1, 4, 12, "R8: IEEE numbers have 4, 8 or 16 bytes")
    reserved = patched(header(order=0, version=V09) + bytes(8), 28, u32(1))
    common.bad("tens", "v09_header_zero.bin", reserved, 28, "R4: the header's last field is zero", lenient_ok=True)
