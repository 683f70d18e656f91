"""Tensor trains, `.blz`: corpus/blz.

All little-endian, no padding:

    0   BLZ1, version u8, dtype u8 (0 f64, 1 complex of two f64), ndim u8, 8 zero bytes
    15  shape u64[ndim], ranks u64[ndim + 1], cores of shape (rank, size, next rank), row-major

BLZ2, the newer container:

    0    BLZ2, version u8 = 1, dtype u8, ndim u8, kind u8 (0 declined, 1 compressed, 2 undecided)
    8    the certificate, 96 bytes, then 28 bytes a cut
    ...  shape u64[ndim]; if compressed, ranks and cores as above; SHA-256 of all before
"""

import hashlib
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
    second_good_files()
    second_bad_files()


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
    # What the project's own command makes of a vector, against its page.
    vector = [4], [1, 1], [1.0, -2.0, 0.5, 4.0]
    common.good("blz", "lenient_one_dim.blz", train(*vector), show(*vector), lenient=True, strict_at=6)


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


class Verdict:
    """A BLZ2 file; every field of the certificate can be set."""

    def __init__(self, shape, ranks, values, dtype=F64, cuts=None, **fields):
        self.shape, self.ranks, self.values, self.dtype = shape, ranks, values, dtype
        width = 16 if dtype == C128 else 8
        dense, kept = math.prod(shape) * width, len(values) * width
        self.fields = {
            "tolerance": 1e-6, "max_rank": -1, "n_values": len(values), "dense_bytes": dense % 2**64, "bytes": kept,
            "ratio": dense / kept if kept else 1.0, "absolute": 0.5, "relative": 1e-7, "measured": NAN, "tail": NAN,
            "cap_cut": -1, "cap_wanted": -1, "cap_rank": -1,
        }
        self.cuts = cuts or []
        self.n_cuts = len(self.cuts)
        self.version, self.kind, self.more = 1, 1, b""
        for name, value in fields.items():
            if name in self.fields:
                self.fields[name] = value
            else:
                setattr(self, name, value)

    def payload(self):
        data = struct.pack("<4sBBBB", b"BLZ2", self.version, self.dtype, len(self.shape), self.kind)
        data += struct.pack("<dqQQQdddddiiiI", *self.fields.values(), self.n_cuts)
        for cut in self.cuts:
            data += struct.pack("<IIIIBxxxd", *cut)
        data += u64s(*self.shape)
        if self.kind == 1:
            data += u64s(*self.ranks) + train([], [], self.values, self.dtype)[15:]
        return data + self.more

    def data(self):
        return sealed(self.payload())

    def show(self):
        shown = show(self.shape, self.ranks, self.values, self.dtype)
        said = self.fields
        if math.isnan(said["absolute"]):
            return shown  # nothing is said
        meta = {
            "relative_tolerance": common.real(said["tolerance"]),
            "dense_bytes": said["dense_bytes"],
            "ratio": common.real(said["ratio"]),
            "absolute_bound": common.real(said["absolute"]),
            "relative_bound": common.real(said["relative"]),
        }
        counts = {"max_rank": "max_rank", "cap_cut": "cap_cut", "cap_tolerance_rank": "cap_wanted", "cap_rank": "cap_rank"}
        meta |= {name: said[field] for name, field in counts.items() if said[field] >= 0}
        floats = {"measured_relative_error": "measured", "tail_at_cap": "tail"}
        meta |= {name: common.real(said[field]) for name, field in floats.items() if not math.isnan(said[field])}
        names = ["cut", "tolerance_rank", "rank", "singular_values", "is_capped", "delta"]
        cuts = [dict(zip(names, [*cut[:4], bool(cut[4]), common.real(cut[5])])) for cut in self.cuts]
        if cuts:
            meta["cuts"] = cuts
        if self.kind != 1:
            dtype = shown["tensors"].pop()["dtype"]
            meta |= {"verdict": {0: "declined", 2: "undecided"}[self.kind], "dtype": dtype, "shape": list(self.shape)}
        shown["metadata"] = {f"blz:{name}": value for name, value in meta.items()}
        return shown


def sealed(payload):
    return payload + hashlib.sha256(payload).digest()


def verdict_of(shape, ranks, dtype=F64, **fields):
    return Verdict(shape, ranks, some(shape, ranks, dtype), dtype, **fields)


def second_good_files():
    cuts = [(0, 2, 2, 3, 0, 1e-9), (1, 4, 2, 6, 1, 0.25)]
    capped = {"max_rank": 2, "measured": 1e-8, "tail": 0.125, "cap_cut": 1, "cap_wanted": 4, "cap_rank": 2}
    for name, verdict in [
        ("second_plain", verdict_of([2, 3], [1, 2, 1])),
        ("second_complex", verdict_of([2, 2, 3], [1, 2, 2, 1], C128, cuts=cuts[:1])),
        ("second_capped", verdict_of([3, 2, 2], [1, 2, 2, 1], cuts=cuts, **capped)),
        ("second_empty", verdict_of([0, 3], [1, 2, 1])),
        ("second_declined", verdict_of([2, 3], [1, 2, 1], kind=0)),
        ("second_undecided", verdict_of([2, 2, 3], [1, 2, 2, 1], C128, kind=2, **capped)),
        ("second_without_bound", verdict_of([2, 3], [1, 2, 1], tolerance=NAN, absolute=NAN, relative=NAN)),
        ("second_infinite_ratio", verdict_of([2, 2], [1, 1, 1], ratio=INF, tolerance=0.0, max_rank=2**62)),
    ]:
        common.good("blz", f"{name}.blz", verdict.data(), verdict.show(), canonical=verdict.kind == 1)
    shape, ranks = [2] * 255, [1] * 256
    common.huge("blz", "second_most_dims.blz", verdict_of(shape, ranks, ratio=INF).data(), 2**255)
    lenient = verdict_of([2, 3], [1, 2, 1], cuts=[(0, 2, 2, 2, 7, 0.0)])
    common.good("blz", "second_lenient_flag.blz", lenient.data(), lenient.show(), lenient=True, strict_at=120)


def second_bad_files():
    # Shape at 104 and 112, ranks at 120, 128 and 136, cores at 144 and 176, the checksum at 224.
    def of(**fields):
        return verdict_of([2, 3], [1, 2, 1], **fields).data()

    whole = of()
    assert len(whole) == 256
    for at, where in [(50, "certificate"), (144, "first core"), (223, "last core"), (255, "checksum")]:
        flipped = patched(whole, at, bytes([whole[at] ^ 1]))
        bad(f"second_flipped_{at}", flipped, 0, f"a bit of the {where} is flipped", by="verify")
    unsupported = {"kind": "unsupported"}
    for name, data, at, why, more in [
        ("version_0", of(version=0), 4, "version 1 is known", unsupported),
        ("version_2", of(version=2), 4, "version 1 is known", unsupported),
        ("dtype_2", sealed(patched(whole[:-32], 5, b"\x02")), 5, "the dtype is 0 or 1", {}),
        ("ndim_0", sealed(patched(whole[:-32], 6, b"\0")), 6, "a train has dimensions", {}),
        ("kind_3", sealed(patched(whole[:-32], 7, b"\x03")), 7, "the kind is 0, 1 or 2", {}),
        ("declined_flipped", patched(of(kind=0), 50, b"\x7f"), 0, "the checksum of a declined file", {}),
        ("declined_with_cores", of(kind=0, more=u64s(1, 2, 1)), 120, "a declined file has no cores", {}),
        ("values_wrong", of(n_values=9), 24, "the cores have ten values", {}),
        ("bytes_wrong", of(bytes=88), 40, "the cores have 80 bytes", {}),
        ("cuts_many", of(n_cuts=2), 100, "two dimensions have one cut", {}),
        ("cuts_most", of(n_cuts=2**32 - 1), 100, "two dimensions have one cut", {}),
        ("flag_2", of(cuts=[(0, 2, 2, 2, 2, 0.0)]), 120, "a flag is 0 or 1", {"lenient_ok": True}),
        ("first_rank_2", sealed(patched(whole[:-32], 120, u64s(2))), 120, "the first rank is 1", {}),
        ("inner_rank_0", sealed(patched(whole[:-32], 128, u64s(0))), 128, "no rank is 0", {}),
        ("rank_gigantic", sealed(patched(whole[:-32], 128, u64s(2**64 - 1))), 144, "more than there is", {}),
        ("one_byte_more", of(more=b"\0"), 224, "the last core is followed by the checksum", {}),
        ("one_byte_less", whole[:-1], 176, "the last core ends before the checksum", {}),
        ("no_checksum", whole[:-32], 176, "the checksum is missing", {}),
        ("no_certificate", sealed(whole[:8]), 8, "the certificate is missing", {}),
        ("cut_at_7", whole[:7], 0, "the file ends in its header", {}),
        ("cut_at_36", whole[:36], 4, "the file ends in its header", {}),
    ]:
        bad(f"second_{name}", data, at, why, **more)


if __name__ == "__main__":
    raise SystemExit(common.run(make))
