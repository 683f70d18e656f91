"""NumPy's array file, `.npy` versions 1.0, 2.0 and 3.0.

From the documentation of `numpy.lib.format`:

    0   0x93, NUMPY, major version u8, minor version u8
    8   length of the header, little-endian: u16 in version 1.0, u32 in 2.0 and 3.0
        header: a Python dictionary with descr, fortran_order and shape, spaces, a newline, so that
        all of it is a multiple of 64 bytes long; Latin-1, in version 3.0 UTF-8
        values, row-major or (fortran_order) column-major

What NumPy writes has as many spaces after the dictionary as the slowest size lacks digits to 21, and
then from 1 to 64 for the alignment.
"""

import itertools
import math
import struct

import cells
import common

TYPES = {
    "bool": "b1", "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8", "i8": "i1", "i16": "i2", "i32": "i4",
    "i64": "i8", "f16": "f2", "f32": "f4", "f64": "f8", "c64": "c8", "c128": "c16",
}
PARTS = {"c64": "f32", "c128": "f64"}  # the numbers that a complex one is made of


def number(dtype):
    return PARTS.get(dtype, dtype)


def descr(dtype, order="<"):
    return ("|" if TYPES[dtype].endswith("1") else order) + TYPES[dtype]


def dictionary(descr, shape, fortran=False):
    """The dictionary as NumPy writes it, with its room to grow."""
    text = f"{{'descr': {descr!r}, 'fortran_order': {fortran}, 'shape': {tuple(shape)!r}, }}"
    return text + " " * (21 - len(str(shape[-1 if fortran else 0])) if shape else 0)


def prefix(length, version):
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", length)


def header(text, version=1, align=64, end="\n"):
    """A header of `text`, padded as NumPy does it."""
    text = text.encode("utf-8" if version == 3 else "latin-1")
    start = 10 if version == 1 else 12
    padding = align - (start + len(text) + len(end)) % align if align else 0
    text += b" " * padding + end.encode()
    return prefix(len(text), version) + text


def flat(values):
    """Complex values as their parts."""
    return [part for value in values for part in (value if isinstance(value, tuple) else (value,))]


def column_major(values, shape):
    """Row-major `values` with the first index fastest."""
    places = itertools.product(*(range(size) for size in reversed(shape)))
    steps = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    return [values[sum(i * step for i, step in zip(reversed(place), steps))] for place in places]


def values_of(dtype, values, shape, order="<", fortran=False):
    stored = column_major(values, shape) if fortran else values
    return cells.pack(number(dtype), flat(stored), order)


def array(dtype, shape, values, order="<", fortran=False, version=1):
    """A file as NumPy writes it; `values` are row-major, complex ones (real, imaginary)."""
    text = dictionary(descr(dtype, order), shape, fortran)
    return header(text, version) + values_of(dtype, values, shape, order, fortran)


def show(dtype, shape, values, version=1):
    shown = cells.shown(number(dtype), flat(values))
    if dtype in PARTS:
        shown = [list(pair) for pair in zip(shown[::2], shown[1::2])]
    tensor = {
        "key": [],
        "state": None,
        "name": "",
        "dtype": dtype,
        "shape": list(shape),
        "dims": common.dims(*shape),
        "storage": "dense",
        "symmetries": [],
        "data": shown,
    }
    metadata = {} if version == 1 else {"npy:version": f"{version}.0"}
    return {"format": "npy", "metadata": metadata, "tensors": [tensor]}
