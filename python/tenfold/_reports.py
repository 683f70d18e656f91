"""Properties of files and values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from . import _tenfold
from ._dtypes import numpy_type
from ._errors import Note
from ._file import Duplicates, File, Origin, core_of_file, reading
from ._file import open as open_file
from ._short import fields
from ._tensor import Tensor
from ._values import core_of


class Format(NamedTuple):
    """A file format."""

    name: str
    title: str
    extensions: tuple[str, ...]
    """Its file extensions."""
    versions: tuple[str, ...]
    """The versions that can be written, the default first; none if it is only read."""
    reading: tuple[tuple[str, str, str], ...]
    """Options for reading: name, values, what it does."""
    writing: tuple[tuple[str, str, str], ...]
    """Options for writing."""


@cache
def _formats() -> tuple[Format, ...]:
    return tuple(
        Format(name, title, tuple(endings), tuple(versions), tuple(reading), tuple(writing))
        for name, title, endings, versions, reading, writing in _tenfold.formats()
    )


def formats() -> list[Format]:
    """Every format there is.

    >>> import tenfold
    >>> [f.name for f in tenfold.formats() if "zt" in f.extensions]
    ['ztensor']
    """
    return list(_formats())


@dataclass(frozen=True, repr=False)
class Stats:
    """Statistics of all values of a tensor.

    Everything but the counts is about the finite values; for complex numbers and the like, about moduli.
    """

    cells: int
    explicit: int
    nan: int
    positive_infinite: int
    negative_infinite: int
    zeros: int
    negative: int
    of_moduli: bool
    faults: list[str]
    """The faults: `nan`, `inf`."""
    remarks: list[str]
    """Remarks, possibly intended: `zero` (all cells are), `constant`."""
    first_nan: tuple[list[str], list[int]] | None
    """Labels and index of the first NaN, in row-major order."""
    first_inf: tuple[list[str], list[int]] | None
    """Labels and index of the first infinity."""
    min: Any = None
    max: Any = None
    mean: float | None = None
    std: float | None = None
    norm: float | None = None
    quantiles: dict[int, float] = field(default_factory=dict)
    """Exact quantiles, by percent."""
    histogram: list[int] = field(default_factory=list)
    """Counts of the histogram, per interval."""

    __repr__ = fields


def stats(tensor: Any, *, bins: int = 0, duplicates: Duplicates | None = None) -> Stats:
    """Statistics of a tensor, of anything that `save` takes, or of a file's only tensor.

    Works in bounded memory on tensors of any size; `bins` asks for a histogram, `duplicates` is as for
    `open`.

    >>> import numpy as np, tenfold
    >>> found = tenfold.stats(np.array([1.0, 2.0, np.nan, 3.0]))
    >>> found.mean, found.nan, found.faults, found.first_nan
    (2.0, 1, ['nan'], ([], [2]))
    """
    fields = _tenfold.stats(core_of(_lone(tensor, duplicates)), bins)
    for name in ("min", "max"):
        if name in fields:
            number, data = fields[name]
            fields[name] = _scalar(number, data)
    return Stats(**fields)


def _scalar(number: str, data: bytes) -> Any:
    """A number as Python's own type, if that is exact."""
    if number in ("u128", "i128"):
        return int.from_bytes(data, "little", signed=number == "i128")
    if number == "bf16":
        return float(np.frombuffer(b"\0\0" + data, "<f4")[0])
    if number == "f128":
        return np.frombuffer(data, numpy_type(number)[0])[0]
    return np.frombuffer(data, numpy_type(number)[0])[0].item()


@dataclass(frozen=True)
class Difference:
    """The differences of two tensors."""

    verdict: str
    """`identical` to the bit, `equal` as numbers, `near` (within the tolerance), or `changed`."""
    dtype_differs: bool = False
    shape_differs: bool = False
    cells: int = 0
    unequal: int = 0
    changed: int = 0
    """Number of cells that exceed the tolerance."""
    largest: float = 0.0
    """The largest |a - b|."""
    relative_norm: float = 0.0
    """The norm of a - b relative to that of a."""
    cosine: float = 1.0
    worst: tuple[list[str], list[int]] | None = None
    """The labels and the index of the cell with the largest difference."""
    blocks: tuple[int, int, int] | None = None
    """Number of labelled blocks in both, only in a, only in b."""

    @property
    def same(self) -> bool:
        """Whether nothing differs, up to the tolerance."""
        return self.verdict != "changed"

    def __bool__(self) -> bool:
        return not self.same


@dataclass(frozen=True, repr=False)
class FileDifference:
    """The differences of two files."""

    tensors: dict[str, Difference]
    """The common tensors, by their names in a."""
    only_a: list[str]
    only_b: list[str]

    @property
    def same(self) -> bool:
        """Whether nothing differs, up to the tolerance."""
        all_same = all(difference.same for difference in self.tensors.values())
        return all_same and not self.only_a and not self.only_b

    def __repr__(self) -> str:
        n_same = sum(difference.same for difference in self.tensors.values())
        counts = f"{n_same} same, {len(self.tensors) - n_same} changed"
        return f"<FileDifference {counts}, {len(self.only_a)} only in a, {len(self.only_b)} only in b>"

    def __bool__(self) -> bool:
        return not self.same


def diff(
    a: Any,
    b: Any,
    rtol: float = 0,
    atol: float = 0,
    *,
    ulp: int | None = None,
    equal_nan: bool = False,
    ignore_dtype: bool = False,
    duplicates: Duplicates | None = None,
) -> Difference | FileDifference:
    """The differences of two files, tensors or arrays; true if there are any.

    Paths, bytes of files and open files are compared tensor by tensor; formats do not matter. `duplicates`
    is as for `open`.

    >>> import numpy as np, tenfold
    >>> tenfold.diff(np.array([1.0, 2.0]), np.array([1.0, 2.5])).largest
    0.5
    """
    tolerance = (rtol, atol, ulp, equal_nan)

    def compare(left: Any, right: Any) -> Difference:
        return Difference(**_tenfold.compare(left, right, tolerance, ignore_dtype))

    if not _is_file(a) or not _is_file(b):
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            return _diff_mappings(a, b, compare)
        return compare(core_of(_lone(a, duplicates)), core_of(_lone(b, duplicates)))
    first, second = (open_file(file, io="read", duplicates=duplicates) for file in (a, b))
    left, right = first._open(), second._open()
    pairs, only_a, only_b = _tenfold.pair(left, right)
    names_a, names_b = _names(left), _names(right)
    return FileDifference(
        {names_a[one]: compare(left.tensor(one), right.tensor(other)) for one, other in pairs},
        [names_a[place] for place in only_a],
        [names_b[place] for place in only_b],
    )


def _diff_mappings(a: Mapping[str, Any], b: Mapping[str, Any], compare: Any) -> FileDifference:
    both = [name for name in a if name in b]
    return FileDifference(
        {name: compare(core_of(a[name]), core_of(b[name])) for name in both},
        [name for name in a if name not in b],
        [name for name in b if name not in a],
    )


def _names(core: _tenfold.FileCore) -> dict[int, str]:
    return {place: name for name, place in core.index().items()}


def _is_file(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike, bytes, bytearray, memoryview, File))


def _lone(value: Any, duplicates: Duplicates | None = None) -> Any:
    return open_file(value, io="read", duplicates=duplicates).only if _is_file(value) else value


@dataclass(frozen=True)
class Callable:
    """A class or function that unpickling a file in Python would call."""

    name: str
    """Its qualified name."""
    allowed: bool
    """Whether PyTorch permits it with `weights_only`."""
    count: int
    """Number of calls; 0 if it is only imported."""
    at: int | None
    """The offset of the first call, if known."""


def verify(
    file: Origin | File, *, progress: Any = None, **how: Any
) -> list[Note | Callable]:
    """Verifies everything in a file: structure, checksums, values.

    Raises `MalformedFile` at the first fault; gives remarks on what is no fault, and of pickles what loading
    them in Python would call. Takes what `open` takes besides.
    """
    if isinstance(file, File) and file.path is None:
        core = file._open()
    else:
        # The calls are found when it is opened.
        own, place = (file._how, file.path) if isinstance(file, File) else ({}, file)
        core = core_of_file(place, reading(**{**own, "io": "read", **how}, callables=True))
    notes = [Note(*fields) for fields in _tenfold.verify(core, progress)]
    return [*(Callable(*fields) for fields in core.callables), *notes]


def hash(file: Origin | File, *, sparse_as_dense: bool = False, **how: Any) -> str:
    """The content hash of a file: the same in every format with the same tensors.

    `docs/hash.md` defines it.
    """
    opened = open_file(file, **{"io": "read", **how})
    return _tenfold.hashes(opened._open(), sparse_as_dense)[0]


def hashes(file: Origin | File, *, sparse_as_dense: bool = False, **how: Any) -> dict[str, str]:
    """The hash of every tensor of a file, by name."""
    opened = open_file(file, **{"io": "read", **how})
    core = opened._open()
    _, each = _tenfold.hashes(core, sparse_as_dense)
    return {name: each[place] for name, place in core.index().items()}


__all__ = [
    "Callable",
    "Difference",
    "FileDifference",
    "Format",
    "Stats",
    "Tensor",
    "diff",
    "formats",
    "hash",
    "hashes",
    "stats",
    "verify",
]
