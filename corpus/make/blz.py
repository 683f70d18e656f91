"""Tensor trains, `.blz` version 1: corpus/blz.

All little-endian, no padding:

    0   BLZ1, version u8, dtype u8 (0 f64, 1 complex of two f64), ndim u8, 8 zero bytes
    15  shape u64[ndim], ranks u64[ndim + 1], cores of shape (rank, size, next rank), row-major
"""

import math
import struct

import common

F64, C128 = 0, 1
INF, NAN = math.inf, math.nan


def header(dtype, ndim):
    return b"BLZ1" + bytes([1, dtype, ndim]) + bytes(8)


def u64s(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def f64s(*values):
    return struct.pack(f"<{len(values)}d", *values)


def train(shape, ranks, values, dtype=F64):
    """A file; `values` are those of all cores, in order, complex ones as (real, imaginary)."""
    numbers = [part for value in values for part in value] if dtype == C128 else values
    return header(dtype, len(shape)) + u64s(*shape, *ranks) + f64s(*numbers)


def core_shapes(shape, ranks):
    return [[left, size, right] for left, size, right in zip(ranks, shape, ranks[1:])]


def show(shape, ranks, values, dtype=F64):
    shown = [[common.real(part) for part in value] if dtype == C128 else common.real(value) for value in values]
    cores = []
    for core in core_shapes(shape, ranks):
        count = math.prod(core)
        cores.append({"shape": core, "data": shown[:count]})
        shown = shown[count:]
    assert not shown, "values beyond the last core"
    tensor = {
        "key": [],
        "state": None,
        "name": "",
        "dtype": "c128" if dtype == C128 else "f64",
        "shape": list(shape),
        "dims": common.dims(*shape),
        "storage": "train",
        "symmetries": [],
        "ranks": list(ranks),
        "cores": cores,
    }
    return {"format": "blz", "metadata": {}, "tensors": [tensor]}


def some(shape, ranks, dtype=F64):
    """As many small, exact, repeatable values as the cores hold."""
    stream = common.lcg(seed=7)
    count = sum(math.prod(core) for core in core_shapes(shape, ranks))
    numbers = [(next(stream) // 2**20 - 2**11) / 256 for _ in range(2 * count)]
    return list(zip(numbers[::2], numbers[1::2])) if dtype == C128 else numbers[:count]


def good(name, shape, ranks, values, dtype=F64):
    data = train(shape, ranks, values, dtype)
    common.good("blz", f"{name}.blz", data, show(shape, ranks, values, dtype), canonical=True)


def bad(name, data, at, why, **more):
    common.bad("blz", f"{name}.blz", data, at, why, **more)


def patched(data, at, new):
    return data[:at] + new + data[at + len(new) :]


def make():
    good_files()
    huge_files()
    bad_files()


def good_files():
    for name, shape, ranks, dtype in [
        ("two_dims", [4, 3], [1, 2, 1], F64),
        ("three_dims", [2, 3, 4], [1, 2, 3, 1], F64),
        ("four_dims_complex", [2, 1, 3, 2], [1, 2, 2, 2, 1], C128),
        ("five_dims", [2, 2, 2, 2, 2], [1, 2, 3, 3, 2, 1], F64),
        ("rank_one", [3, 3, 3], [1, 1, 1, 1], F64),
        ("redundant_ranks", [2, 2], [1, 5, 1], F64),  # more than any 2 x 2 needs: kept
        ("matrix_complex", [2, 2], [1, 2, 1], C128),
        ("size_one", [1, 1], [1, 1, 1], F64),
        ("empty", [0, 3], [1, 2, 1], F64),  # the first core has no bytes, the second still has
        ("empty_complex", [2, 0, 2], [1, 3, 2, 1], C128),
        ("empty_everywhere", [0, 0, 0], [1, 2**40, 2**50, 1], F64),  # ranks of no consequence
    ]:
        good(name, shape, ranks, some(shape, ranks, dtype), dtype)
    example = [2, 3], [1, 2, 1], [float(k) for k in range(1, 11)]
    assert len(train(*example)) == 135
    good("page_example", *example)
    good("specials", [2, 2], [1, 2, 1], [NAN, INF, -INF, -0.0, 5e-324, 1.7976931348623157e308, 0.1, 0.0])
    good("specials_complex", [1, 2], [1, 1, 1], [(-0.0, NAN), (INF, -0.0), (0.1, -INF)], C128)
    reserved = patched(train(*example), 7, b"\x01")
    common.good("blz", "lenient_reserved.blz", reserved, show(*example), lenient=True, strict_at=7)


def huge_files():
    """A train of 255 dimensions, and one of few long ones: never expanded unasked."""
    shape, ranks = [2] * 255, [1] * 256
    common.huge("blz", "most_dims.blz", train(shape, ranks, some(shape, ranks)), 2**255)
    shape, ranks = [10] * 19, [1] * 20
    common.huge("blz", "beyond_u64.blz", train(shape, ranks, some(shape, ranks)), 10**19)


def bad_files():
    # Its shape is at 15 and 23, its ranks at 31, 39 and 47, its cores at 55 and 87.
    whole = train([2, 3], [1, 2, 1], some([2, 3], [1, 2, 1]))
    for name, at, new, why, more in [
        ("magic", 0, b"BLZ0", "the magic is BLZ1", {}),
        ("magic_lower_case", 0, b"blz1", "the magic is BLZ1, in capitals", {}),
        ("version_0", 4, b"\0", "version 0 is not defined", {"kind": "unsupported"}),
        ("version_2", 4, b"\x02", "version 2 is not defined", {"kind": "unsupported"}),
        ("dtype_2", 5, b"\x02", "the dtype is 0 or 1", {}),
        ("dtype_255", 5, b"\xff", "the dtype is 0 or 1", {}),
        ("ndim_0", 6, b"\0", "a train has at least two dimensions", {}),
        ("ndim_1", 6, b"\x01", "a train has at least two dimensions", {}),
        ("reserved", 7, b"\x01", "the reserved bytes are zero", {"lenient_ok": True}),
        ("first_rank_2", 31, u64s(2), "the first rank is 1", {}),
        ("last_rank_0", 47, u64s(0), "the last rank is 1", {}),
        ("last_rank_3", 47, u64s(3), "the last rank is 1", {}),
        ("inner_rank_0", 39, u64s(0), "no rank is 0", {}),
    ]:
        bad(name, patched(whole, at, new), at, why, **more)
    for length, at, field in [
        (0, 0, "magic"),
        (2, 0, "magic"),
        (4, 4, "version"),
        (5, 5, "dtype"),
        (6, 6, "ndim"),
        (10, 7, "reserved bytes"),
        (15, 15, "first size"),
        (30, 23, "second size"),
        (31, 31, "first rank"),
        (54, 47, "last rank"),
        (55, 55, "first core"),
        (86, 55, "end of the first core"),
        (87, 87, "second core"),
        (134, 87, "end of the second core"),
    ]:
        bad(f"cut_at_{length}", whole[:length], at, f"the file ends before the {field}")
    bad("one_byte_more", whole + b"\0", 135, "the last core ends the file")
    bad("one_core_more", whole + f64s(1.0, 2.0), 135, "the last core ends the file")
    # Hostile numbers: products and sums are checked before anything is allocated.
    bad("most_dims_announced", header(F64, 255), 15, "255 dimensions announced, none there")
    for name, dtype, sizes, rank, why in [
        ("core_wraps_to_zero", F64, [2**32, 2**29], 2**32, "2^64 numbers in the first core, no bytes"),
        ("core_bytes_wrap", C128, [2**60, 2**60], 1, "2^60 complex numbers wrap to 0 bytes"),
        ("sum_wraps", F64, [2**60, 2**60], 1, "two cores of 2^63 bytes sum to 0"),
        ("rank_gigantic", F64, [2, 2], 2**64 - 1, "the rank asks for more than there is"),
    ]:
        bad(name, header(dtype, 2) + u64s(*sizes, 1, rank, 1), None, why)
    bad("empty_with_values", train([0, 0], [1, 1, 1], [1.0]), 55, "an empty train has no values")
    bad("empty_then_cut", train([0, 3], [1, 2, 1], [1.0]), 55, "the second core has six values, one is there")


if __name__ == "__main__":
    raise SystemExit(common.run(make))
