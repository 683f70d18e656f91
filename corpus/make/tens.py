"""TENS files that read: corpus/tens/good, and corpus/tens/huge for small files that stand for many cells.

Rule numbers (R6, R13 ...) are those of the format's notes; `tens_bad.py` has the files that break them.
"""

import math
import struct

import common
import tens_bad
from tens_file import IX, V09, Bits, Tens, dim, element, header, q

INF, NAN = math.inf, math.nan
EIGHTFOLD = "bacd", "abdc", "cdab"  # real two-electron integrals
WHOLE = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def good(name, data, show, extension="tens", **more):
    common.good("tens", f"{name}.{extension}", data, show, **{"canonical": True, **more})


def dense(name, number, shape, values, canonical=True, **more):
    tens = Tens(number, shape, **more)
    good(name, tens.dense(values), tens.show_dense(values), canonical=canonical)


def pairs(name, number, shape, cells, canonical=True, **more):
    tens = Tens(number, shape, **more)
    good(name, tens.pairs(cells), tens.show_pairs(cells), canonical=canonical)


def packed(operation, *index_maps):
    return {"symmetries": [(operation, index_map, True) for index_map in index_maps]}


def make():
    numbers()
    elements()
    shapes()
    names()
    chunks()
    index_value()
    packed_dense()
    packed_pairs()
    unpacked_symmetries()
    lenient()
    version_09()
    huge()
    tens_bad.make()


def numbers():
    """R5-R8: every number type in every size, at its extremes, in both byte orders."""
    for size in (1, 2, 4, 8, 16):
        top = 256**size
        unsigned, signed = [1, top // 3, top - 1], [-2, -top // 2, top // 2 - 1]
        dense(f"uint_{size}", f"uint{size}", [3], unsigned)
        dense(f"sint_{size}", f"sint{size}", [3], signed)
        dense(f"big_uint_{size}", f"UINT{size}", [3], unsigned)  # R8: capitals are kept, also for single bytes
        dense(f"big_sint_{size}", f"SINT{size}", [3], signed)
    signalling = Bits(0x7F800001, 4), Bits(0xFFF0000000000123, 8), Bits(0x7FFF << 112 | 5, 16)
    single = [0.1, -0.0, INF, -INF, 2.0**-149, 3.4028234663852886e38, NAN, signalling[0]]
    double = [0.1, -0.0, INF, -INF, 5e-324, 1.7976931348623157e308, NAN, signalling[1]]
    quads = ["1", "-2", "0.1", "-0", "1e-4000", "-Infinity", "NaN", "1.5e4931", "6e-4966"]
    dense("f32_specials", "IEEE4", [8], single)
    dense("f64_specials", "IEEE8", [8], double)
    dense("f128_specials", "IEEE16", [10], [q(text) for text in quads] + [signalling[2]])
    for size, values in ((4, single), (8, double), (16, [q(text) for text in quads])):
        # R6: IEEE is little-endian unless the user says otherwise.
        tens = Tens(f"IEEE{size}", [len(values)])
        data, show = tens.dense(values, big=True), tens.show_dense(values)
        good(f"big_ieee_{size}", data, show, canonical=False, options={"ieee-endian": "big"})


def elements():
    """R9: one, two, four, eight numbers an element, the real part first."""
    dense("complex_f32", "IEEE4", [2, 2], [(1.5, -2.5), (0.0, -0.0), (INF, NAN), (0.1, 7.0)], arity=2)
    dense("complex_f64", "IEEE8", [3], [(1.0, -1.0), (-0.0, 0.5), (1e300, NAN)], arity=2)
    dense("complex_f128", "IEEE16", [2], [(q("0.1"), q("-0.2")), (q("Infinity"), q("1e4000"))], arity=2)
    dense("complex_big_uint_2", "UINT2", [2], [(1, 258), (65535, 0)], arity=2)
    dense("quaternion_f64", "IEEE8", [2], [(1.0, 2.0, 3.0, 4.0), (0.25, -0.25, 0.0, -0.0)], arity=4)
    dense("quaternion_sint_1", "sint1", [1, 2], [(1, -2, 3, -4), (-128, 127, 0, 5)], arity=4)  # no padding
    dense("octonion_big_sint_4", "SINT4", [2], [tuple(range(8)), tuple(range(-8, 0))], arity=8)
    dense("octonion_f32", "IEEE4", [1], [tuple(0.5 * k for k in range(8))], arity=8)


def shapes():
    """R10: no dimensions are one element; a length of zero is none, whatever stands beside it (R2: u32)."""
    dense("matrix", "IEEE8", [2, 3], WHOLE)  # the first index runs fastest
    dense("order_0", "IEEE8", [], [2.718281828459045])
    dense("order_0_padded", "uint1", [], [255])
    dense("order_5", "uint1", [2, 1, 3, 2, 1], list(range(12)))
    dense("empty_3_0", "sint4", [3, 0], [])
    longest = 2**32 - 1
    dense("empty_beside_huge", "IEEE8", [longest, 0, longest, 2**31], [])
    dense("empty_packed_beside_huge", "IEEE16", [longest, longest, 0], [], arity=8, **packed("-x", "bac"))


def names():
    """R11, R11a: a name is any byte; the default sequence and all-NUL names are no names."""
    dense("names_chosen", "IEEE8", [2, 3], WHOLE, names=b"ij")
    dense("names_not_in_order", "IEEE8", [3, 2], WHOLE, names=b"ba")
    dense("names_repeated", "IEEE8", [2, 3], WHOLE, names=b"kk")  # legal while no symmetry refers to them
    dense("names_nul", "IEEE8", [2, 3], WHOLE, names=b"\0\0")
    dense("names_latin_1", "IEEE8", [1, 2, 3], WHOLE, names=b"\xe9\0\xff")
    dense("names_beyond_z", "uint1", [1] * 28, [7])  # ... y z A B
    dense("sparse_flag_on_dense", "IEEE8", [2, 3], WHOLE, sp=[1])  # R22: a hint, kept


def chunks():
    """R12, R27: chunks nobody knows are kept, before or after the data."""
    note, empty = (b"ABCDEFGH", bytes(range(8))), (b"~ 0 no ~", b"")
    dense("chunk_before", "IEEE8", [2, 3], WHOLE, before=[note])
    dense("chunk_after", "IEEE8", [2, 3], WHOLE, after=[note])
    dense("chunks_around", "sint2", [3], [1, 2, 3], before=[note, empty], after=[empty, note])
    pairs("chunk_before_pairs", "IEEE8", [9], [((4,), 1.5)], before=[note])
    tens = Tens("IEEE8", [2, 2], before=[note], **packed("x", "ba"))
    data, show = tens.dense([1.0, 2.0, 3.0]), tens.show_dense([1.0, 2.0, 3.0])
    known, unknown = data[48:72], data[72:96]
    moved = data[:48] + unknown + known + data[96:]
    good("chunk_before_symmetry", moved, show, canonical=False)  # the order of chunks means nothing


def index_value():
    """R18, R19: a count, then (global index, value) pairs without padding; what is absent is zero."""
    pairs("pairs_f64", "IEEE8", [3, 4], [((1, 0), 1.5), ((0, 2), -2.5), ((2, 3), 1e-300)])
    pairs("pairs_sparse_flags", "sint4", [2, 3, 4], [((1, 2, 0), -7), ((0, 0, 3), 2**31 - 1)], sp=[0, 1, 2])
    pairs("pairs_big_uint_2", "UINT2", [300], [((1,), 1), ((258,), 258)])  # indices stay little-endian
    pairs("pairs_f128", "IEEE16", [5], [((3,), q("0.1"))])
    pairs("pairs_complex", "IEEE4", [2, 2], [((1, 0), (1.0, -1.0)), ((1, 1), (0.0, 0.5))], arity=2)
    pairs("pairs_none", "IEEE8", [4, 4], [])
    pairs("pairs_order_0", "sint1", [], [((), -1)])
    pairs("pairs_order_0_none", "sint1", [], [])
    pairs("pairs_empty_beside_huge", "IEEE8", [2**32 - 1, 2**32 - 1, 0], [])
    pairs("pairs_minus_zero", "IEEE8", [5], [((1,), -0.0), ((3,), 1.0)])  # its bytes are not all zero: kept
    # Readable, but no writer's choice:
    pairs("pairs_unsorted", "IEEE8", [3, 4], [((2, 3), 3.0), ((0, 0), 1.0), ((1, 1), 2.0)], canonical=False)
    pairs("pairs_explicit_zero", "IEEE8", [5], [((1,), 0.0), ((3,), 1.0)], canonical=False)


def packed_dense():
    """R14-R16: one packed symmetry; a value is left out if one before it determines it."""
    swap, cycle = "ba", "bca"
    dense("packed_symmetric", "IEEE8", [3, 3], WHOLE, **packed("x", swap))
    dense("packed_antisymmetric", "sint2", [4, 4], [1, 2, 3, 4, 5, 6], **packed("-x", swap))
    dense("packed_antisymmetric_inner", "IEEE8", [2, 3, 3], WHOLE, **packed("-x", "acb"))
    dense("packed_antisymmetric_zeros", "IEEE8", [3, 3], [0.0, -0.0, NAN], **packed("-x", swap))  # R23: signs flip
    dense("packed_antisymmetric_f128", "IEEE16", [2, 2], [q("0.1")], **packed("-x", swap))
    diagonal, off = (2.0, 0.0), (0.5, -3.0)
    dense("packed_hermitian", "IEEE8", [2, 2], [diagonal, off, diagonal], arity=2, **packed("x*", swap))
    diagonal = (0.0, 2.0)
    dense("packed_antihermitian", "IEEE4", [2, 2], [diagonal, off, diagonal], arity=2, **packed("-x*", swap))
    diagonal, off = (1.0, 0.0, 0.0, 0.0), (1.0, 2.0, -3.0, 4.0)
    dense("packed_quaternion", "IEEE8", [2, 2], [diagonal, off, diagonal], arity=4, **packed("x*", swap))
    # Conjugation does nothing to reals: these two are symmetric and antisymmetric.
    dense("packed_conjugate_real", "sint1", [2, 2], [1, -2, 3], **packed("x*", swap))
    dense("packed_negative_conjugate_real", "sint1", [2, 2], [5], **packed("-x*", swap))
    dense("packed_cyclic", "uint1", [3, 3, 3], list(range(1, 12)), **packed("x", cycle))
    dense("packed_cyclic_negative", "sint1", [2, 2, 2], [], **packed("-x", cycle))  # (-1)^3: all zero
    dense("packed_two_swaps", "IEEE8", [2, 2, 2, 2], WHOLE, **packed("-x", "badc"))
    dense("packed_four_cycle", "sint1", [2, 2, 2, 2], [9, -7, 5, 3], **packed("-x", "bcda"))
    dense("packed_scalar_negative", "IEEE8", [], [], **packed("-x", ""))  # T = -T
    dense("packed_named", "IEEE8", [2, 1, 2], [1.0, 2.0, 3.0], names=b"p#q", **packed("x", "q#p"))
    informative = [("x", "acb", True), ("x", "bac", False)]  # packed by the first alone
    dense("packed_and_informative", "sint1", [2, 2, 2], [10, 11, 11, 12, 12, 13], symmetries=informative)


def packed_pairs():
    """R17: pairs may be packed by many symmetries; any member of an orbit may stand for it."""
    pairs("packed_pairs_symmetric", "IEEE8", [3, 3], [((1, 0), 2.0), ((2, 2), 3.0)], **packed("x", "ba"))
    cells = [((1, 0, 1, 0), 0.5), ((2, 1, 1, 0), -0.25)]
    pairs("packed_pairs_amplitudes", "IEEE8", [3, 3, 2, 2], cells, **packed("-x", "bacd", "abdc"))
    integrals = packed("x", *EIGHTFOLD)
    cells = [(at, 0.125 * (k + 1)) for k, at in enumerate(Tens("IEEE8", [2] * 4, **integrals).stored())]
    pairs("packed_pairs_integrals", "IEEE8", [2] * 4, cells, **integrals)
    hermitian = [("x", "cdab", True), ("x*", "badc", True)]  # complex orbitals: fourfold
    cells = [((1, 0, 0, 0), (1.0, 2.0)), ((1, 0, 1, 0), (3.0, -4.0))]
    pairs("packed_pairs_complex", "IEEE8", [2] * 4, cells, arity=2, symmetries=hermitian)
    pairs("packed_pairs_cyclic", "sint8", [3, 3, 3], [((1, 0, 0), -5), ((2, 1, 0), 6)], **packed("x", "bca"))
    both = [("x", "ba", True), ("-x", "ba", True)]
    pairs("packed_pairs_contradictory", "IEEE8", [3, 3], [], symmetries=both)  # T = -T: nothing can be stored
    # Readable, but no writer's choice:
    odd = {"canonical": False, **packed("-x", "ba")}
    pairs("packed_pairs_other_member", "sint4", [3, 3], [((0, 1), 7), ((1, 2), -9)], **odd)
    pairs("packed_pairs_forced_zero_given", "sint4", [3, 3], [((1, 0), 7), ((1, 1), 0)], **odd)


def unpacked_symmetries():
    """R13, R24: without PK a symmetry is information; every value is there."""
    dense("symmetric_unpacked", "IEEE8", [2, 2], [1.0, 2.0, 2.0, 3.0], symmetries=[("x", "ba", False)])
    dense("symmetric_to_rounding", "IEEE8", [2, 2], [1.0, 0.1 + 0.2, 0.3, 4.0], symmetries=[("x", "ba", False)])
    dense("operation_unknown", "IEEE8", [2, 2], [1.0, 2.0, 4.0, 8.0], symmetries=[("2x", "ba", False)])
    cells = [((1, 0), 3), ((0, 1), -3)]
    pairs("pairs_unpacked_symmetry", "sint1", [2, 2], cells, symmetries=[("-x", "ba", False)])


def lenient():
    """R4, R13, R25: what is reserved, and padding, is zero; only a lenient read looks past it."""
    plain, square = Tens("sint2", [3]), Tens("IEEE8", [2, 2], **packed("x", "ba"))
    cases = [
        ("lenient_header_zero", plain, [1, 2, 3], 28, 1),
        ("lenient_dim_flag", plain, [1, 2, 3], 37, 0x80),
        ("lenient_dim_zero", plain, [1, 2, 3], 38, 1),
        ("lenient_data_padding", plain, [1, 2, 3], 62, 0xFF),
        ("lenient_symmetry_padding", square, [1.0, 2.0, 3.0], 69, 0x20),
    ]
    for name, tens, values, at, byte in cases:
        data = bytearray(tens.dense(values))
        data[at] = byte
        good(name, data, tens.show_dense(values), canonical=False, lenient=True, strict_at=at)


def old(name, number, shape, values, arity=1, names=None, garbage=bytes(3), declared=None, **more):
    """Version 0.9, as cc4s wrote it: 32 + 8 order bytes, then bare values."""
    letters = names or bytes(ord("a") + k for k in range(len(shape)))
    data = header(declared or number, arity, len(shape), version=V09)
    data += b"".join(dim(*each)[:5] + garbage for each in zip(shape, letters))
    data += b"".join(element(value, number) for value in values)
    tens = Tens(number, shape, arity=arity, names=names)
    show = {**tens.show_dense(values), "metadata": {"tens:version": "0.9"}}
    good(name, data, show, **{"extension": "bin", **more})


def version_09():
    """R1, R28-R30: what programs really wrote."""
    pair = [(1.0, -2.0), (0.5, NAN)]
    quads = [(q("0.1"), q("-0.2")), (q("3"), q("-0"))]
    old("v09_f64", "IEEE8", [2, 3], WHOLE)
    old("v09_f32_unpadded", "IEEE4", [3], [0.1, -0.0, NAN])
    old("v09_f128", "IEEE16", [2], [q("0.1"), q("NaN")])
    old("v09_complex", "IEEE8", [1, 2], pair, arity=2)
    old("v09_complex_f128", "IEEE16", [2], quads, arity=2)  # (16, 2), and the length agrees
    old("v09_order_0", "IEEE8", [], [-1.0])
    old("v09_empty", "IEEE8", [5, 0, 2**32 - 1], [])
    old("v09_elements", "IEEE8", [1, 2], pair, arity=2, extension="elements")  # R29
    old("v09_names_beyond_z", "IEEE8", [1] * 28, [7.0])  # 'a' + k: ... z { |
    # Readable, but no writer's choice:
    old("v09_names_chosen", "IEEE8", [2, 3], WHOLE, names=b"pq", canonical=False)
    old("v09_garbage", "IEEE8", [2, 3], WHOLE, garbage=b"\x7f\x34\x12", canonical=False)  # R4
    old("v09_complex_misdeclared", "IEEE8", [1, 2], pair, arity=2, declared="IEEE16", canonical=False)
    old("v09_complex_f128_misdeclared", "IEEE16", [2], quads, arity=2, declared="IEEE32", canonical=False)


def huge():
    """R20, R21: few bytes, up to 2^63 - 1 cells."""
    cases = [
        # Dense, and all of it forced to zero: nothing is stored.
        ("negative_identity", [2**20, 2**21, 2**21], packed("-x", "abc"), None),
        ("negative_cycle", [2**20] * 3, packed("-x", "bca"), None),
        # Pairs at these global indices.
        ("pairs_none", [2**32 - 1, 2**31 - 1], {}, []),
        ("pairs_most_cells", [153092023, 92737, 649657], {}, [0, 2**63 - 2]),  # 2^63 - 1 cells
        ("pairs_symmetric", [2**31, 2**31], packed("x", "ba"), [1, 2**62 - 1]),
        ("pairs_antisymmetric", [2**31, 2**31], packed("-x", "ba"), [1, 2**31 - 1]),
        ("pairs_eightfold", [2**15] * 4, packed("x", *EIGHTFOLD), [0, 1, 2**15 + 1]),
    ]
    for name, shape, symmetries, indices in cases:
        tens = Tens("IEEE8", shape, **symmetries)
        data = tens.dense([]) if indices is None else tens.head(IX) + struct.pack("<Q", len(indices))
        for index in indices or []:
            data += struct.pack("<Qd", index, 1.5)
        common.huge("tens", f"{name}.tens", data, math.prod(shape))


if __name__ == "__main__":
    raise SystemExit(common.run(make))
