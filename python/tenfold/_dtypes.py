"""Which element type of a file is which of NumPy's.

=====================  =====================================================================
in the file            in NumPy
=====================  =====================================================================
`bool`, `u8` … `f64`   the type of the same name
`c64`, `c128`          `complex64`, `complex128`
`bf16`, `F8_E4M3` …    those of the package `ml_dtypes`, if it is installed
`u128`, `i128`         `uint128`, `int128` of this module: two words, the lower one first
`f128`                 `float128` of this module: the bits of an IEEE binary128, as two words
quaternions and such   the type of a part, with one more axis, the last, for the parts
quantized blocks       none: a void type of no size; so is `bf16` of two bytes without `ml_dtypes`
=====================  =====================================================================
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ._errors import InvalidRequest, MissingPackage

uint128 = np.dtype([("low", "<u8"), ("high", "<u8")])
"""An unsigned integer of 128 bits, as two words."""
int128 = np.dtype([("low", "<u8"), ("high", "<i8")])
"""A signed integer of 128 bits, as two words; the upper one has the sign."""
float128 = np.dtype([("low_bits", "<u8"), ("high_bits", "<u8")])
"""The bits of an IEEE binary128, as two words."""

_PLAIN: dict[str, np.dtype] = {
    "bool": np.dtype("?"),
    "u8": np.dtype("u1"),
    "u16": np.dtype("<u2"),
    "u32": np.dtype("<u4"),
    "u64": np.dtype("<u8"),
    "u128": uint128,
    "i8": np.dtype("i1"),
    "i16": np.dtype("<i2"),
    "i32": np.dtype("<i4"),
    "i64": np.dtype("<i8"),
    "i128": int128,
    "f16": np.dtype("<f2"),
    "f32": np.dtype("<f4"),
    "f64": np.dtype("<f8"),
    "f128": float128,
    "c64": np.dtype("<c8"),
    "c128": np.dtype("<c16"),
}

_PARTS = {"complex": 2, "quaternion": 4, "octonion": 8}


SMALL = {
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E8M0": "float8_e8m0fnu",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
}
"""One-byte floats, which files keep unchanged, and their names in `ml_dtypes` and PyTorch."""


def _of_ml_dtypes(element: str, name: str) -> np.dtype:
    try:
        import ml_dtypes
    except ImportError as error:
        advice = '; or take another type: numpy(dtype="f32")' if element == "bf16" else ""
        why = f"{element} needs the package ml_dtypes (pip install ml_dtypes){advice}"
        raise MissingPackage(why) from error
    found = getattr(ml_dtypes, name, None)
    if found is None:
        raise MissingPackage(f"{element} needs a newer ml_dtypes (pip install --upgrade ml_dtypes)")
    dtype: np.dtype = np.dtype(found)
    return dtype


def numpy_type(name: str) -> tuple[np.dtype, int]:
    """NumPy's type for an element type, and the length of its last axis; 0 if it has none."""
    known = _PLAIN.get(name)
    if known is not None:
        return known, 0
    if name == "bf16":
        return _of_ml_dtypes(name, "bfloat16"), 0
    if name in SMALL:
        return _of_ml_dtypes(name, SMALL[name]), 0
    if name == "c256":
        return float128, 2
    arity, _, rest = name.partition("<")
    if arity in _PARTS and rest.endswith(">"):
        part, _ = numpy_type(rest[:-1])
        return part, _PARTS[arity]
    raise InvalidRequest(f"NumPy has nothing for {name}")


def type_or_void(name: str) -> np.dtype:
    """NumPy's type for an element type; a void type of its size where NumPy has none."""
    try:
        return numpy_type(name)[0]
    except (InvalidRequest, MissingPackage):
        part = name.partition("<")[2].removesuffix(">") or name
        return np.dtype((np.void, 2 if part == "bf16" else int(part in SMALL)))


# Cached: looked up for every array that is saved.
_NAMES: dict[np.dtype, str] = {dtype: name for name, dtype in _PLAIN.items()}
_NAMES.update(
    {
        dtype.newbyteorder(">"): ">" + name
        for name, dtype in _PLAIN.items()
        if dtype.fields is None and dtype.itemsize > 1
    }
)


_NAMES_OF_ML_DTYPES = {"bfloat16": "bf16", **{name: element for element, name in SMALL.items()}}


def name_of(dtype: np.dtype) -> str:
    """The element type for one of NumPy's, prefixed with `>` if big-endian."""
    name = _NAMES.get(dtype)
    if name is None:
        name = _NAMES_OF_ML_DTYPES.get(dtype.name)
        if name is None:
            raise InvalidRequest(f"no number type is like NumPy's {dtype}")
        _NAMES[dtype] = name
    return name


def word_of(dtype: npt.DTypeLike) -> str:
    """The name of an element type given in any notation: `f32`, `np.float32`, `"<f4"`."""
    if isinstance(dtype, str):
        if dtype in ("i8", "u8"):
            # Bits in files, bytes in NumPy.
            kind = "int" if dtype == "i8" else "uint"
            raise InvalidRequest(f"{dtype!r} could be {kind}8 or {kind}64: say which")
        if dtype in _PLAIN or dtype == "bf16" or dtype in SMALL or "<" in dtype[1:]:
            return dtype
        if dtype in _NAMES_OF_ML_DTYPES:
            return _NAMES_OF_ML_DTYPES[dtype]
    return name_of(np.dtype(dtype)).removeprefix(">")
