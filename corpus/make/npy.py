"""NumPy's array file: corpus/npy."""

import math

import cells
import common
import npy_bad
from npy_file import PARTS, TYPES, array, dictionary, header, show, values_of

INF, NAN = math.inf, math.nan


def some(dtype, count):
    """As many exact, repeatable values."""
    stream = common.lcg(seed=11)
    if dtype in PARTS:
        return [((next(stream) >> 20) / 16, -(next(stream) >> 20) / 16) for _ in range(count)]
    if dtype[0] == "f":
        return [(next(stream) >> 22) / 8 - 64 for _ in range(count)]
    if dtype == "bool":
        return [next(stream) >> 31 for _ in range(count)]
    bits = int(dtype[1:])
    low = -(2 ** (bits - 1)) if dtype[0] == "i" else 0
    return [low + (next(stream) << 32 | next(stream)) % 2**bits for _ in range(count)]


def canonical(name, dtype, shape, values=None, **more):
    values = some(dtype, math.prod(shape)) if values is None else values
    shown = show(dtype, shape, values, more.get("version", 1))
    common.good("npy", f"{name}.npy", array(dtype, shape, values, **more), shown, canonical=True)


def make():
    types()
    shapes()
    versions()
    other_writers()
    lenient()
    npy_bad.make()


def types():
    for dtype in TYPES:
        canonical(f"{dtype}", dtype, [3])
        if not TYPES[dtype].endswith("1"):
            canonical(f"{dtype}_big_endian", dtype, [2, 2], order=">")
    canonical("f16_specials", "f16", [6], [NAN, INF, -INF, -0.0, 2.0**-24, 65504.0])
    canonical("f32_specials", "f32", [6], [NAN, INF, -INF, -0.0, 2.0**-149, 0.1])
    canonical("f64_specials", "f64", [6], [NAN, INF, -INF, -0.0, 5e-324, 1.7976931348623157e308])
    canonical("c128_specials", "c128", [3], [(-0.0, NAN), (INF, -0.0), (0.1, -INF)])
    canonical("bool_other_bytes", "bool", [4], [0, 1, 2, 255])  # kept as they are
    canonical("i64_ends", "i64", [3], [-(2**63), 2**63 - 1, -1])
    canonical("u64_ends", "u64", [2], [2**64 - 1, 0])


def shapes():
    canonical("scalar", "f64", [])
    canonical("scalar_complex_big_endian", "c64", [], order=">")
    canonical("matrix", "f64", [2, 3])
    canonical("fortran", "f64", [2, 3], fortran=True)
    canonical("fortran_three_dims", "i16", [2, 3, 4], fortran=True, order=">")
    canonical("fortran_complex", "c64", [3, 2], fortran=True)
    canonical("fortran_with_ones", "u8", [1, 2, 1, 3], fortran=True)
    canonical("five_dims", "u8", [2, 1, 3, 2, 2])
    canonical("most_dims", "u8", [1] * 63 + [2])
    canonical("empty", "f32", [0])
    canonical("empty_inside", "i32", [3, 0, 2])
    canonical("empty_and_large", "f64", [0, 2**60 - 1])
    canonical("row_of_two_digits", "u8", [12, 1])
    # Aligned already before the padding: 64 spaces more.
    candidates = ([1] * ones + [10**digits, 0] for ones in range(30) for digits in range(3))
    shape = next(shape for shape in candidates if (10 + len(dictionary("|u1", shape)) + 1) % 64 == 0)
    canonical("aligned_already", "u8", shape, [])


def versions():
    for version in (2, 3):
        canonical(f"version_{version}", "f32", [2, 2], version=version)
        canonical(f"version_{version}_fortran_big_endian", "f64", [2, 3], version=version, fortran=True, order=">")
        canonical(f"version_{version}_scalar", "bool", [], version=version)


def foreign(name, text, dtype="u8", shape=(3,), version=1, **more):
    """A header that NumPy reads and does not write."""
    values = some(dtype, math.prod(shape))
    data = header(text, version, **more) + values_of(dtype, values, shape)
    common.good("npy", f"{name}.npy", data, show(dtype, shape, values, version))


def other_writers():
    plain = "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }"
    foreign("aligned_to_16", plain, align=16)  # as before NumPy 1.14
    foreign("not_aligned", plain, align=0)
    foreign("no_last_comma", "{'descr': '|u1', 'fortran_order': False, 'shape': (3,)}")
    foreign("keys_in_another_order", "{'shape': (3,), 'fortran_order': False, 'descr': '|u1'}")
    foreign("double_quotes", '{"descr": "|u1", "fortran_order": False, "shape": (3,), }')
    foreign("no_spaces", "{'descr':'|u1','fortran_order':False,'shape':(3,)}", align=0)
    foreign("spread_over_lines", "\n{\n\t'descr' : '|u1' ,\r\n'fortran_order':False,\f'shape':(\n3\n,\n)\n}\n")
    foreign("escapes", r"{'d\x65scr': '\u007c\1651', 'fortran_order': False, 'sh\U00000061pe': (3,), }")
    foreign("python_2_long", "{'descr': '<i4', 'fortran_order': False, 'shape': (2L, 1L), }", "i32", (2, 1))
    foreign("python_2_long_version_2", plain.replace("3,", "3L,"), version=2)
    foreign("python_2_unicode", plain.replace("'descr'", "u'descr'"))
    foreign("byte_order_of_one_byte", plain.replace("|", "<"))
    foreign("native_one_byte", plain.replace("|", "="))
    foreign("vector_in_fortran_order", plain.replace("False", "True"))
    foreign("scalar_in_fortran_order", "{'descr': '<f8', 'fortran_order': True, 'shape': (), }", "f64", ())


def lenient():
    values = some("f32", 2)
    shown, data = show("f32", [2], values), cells.pack("f32", values, "<")
    text = dictionary("<f4", [2])
    at = len(header(text))

    def put(name, file, strict_at):
        common.good("npy", f"lenient_{name}.npy", file, shown, lenient=True, strict_at=strict_at)

    put("no_newline", header(text, end="") + data, at - 1)
    put("trailing_bytes", header(text) + data + b"\0\0\0", at + len(data))
    put("second_array", (header(text) + data) * 2, at + len(data))
    for name, mark in [("native", "="), ("not_applicable", "|"), ("absent", "")]:
        put(f"byte_order_{name}", header(dictionary(mark + "f4", [2])) + data, 20)


if __name__ == "__main__":
    raise SystemExit(common.run(make))
