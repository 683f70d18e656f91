"""Values that can be saved: arrays of every library, and classes for those that NumPy does not have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _tenfold
from ._dtypes import SMALL, name_of
from ._errors import InvalidRequest
from ._short import counted, short

Attrs = Mapping[str, Any]


@dataclass(frozen=True)
class Symmetry:
    """The declaration that `T[i_0, i_1, …] = s(T[i_p0, i_p1, …])` for all indices."""

    permutation: tuple[int, ...]
    """For each position on the right-hand side, the index that stands there."""
    operation: str = "x"
    """The operation `s`: `x`, `-x`, `x*` (the conjugate) or `-x*`."""
    packed: bool = False
    """Whether the file stores only one cell of each orbit."""


@dataclass(repr=False)
class Symmetric:
    """An array together with the symmetries it has.

    Saved to a format that knows symmetries, one cell of every orbit is kept if `pack` is set: the others
    may differ from what follows of it by `tolerance` times the largest value, and if there is none by no bit.

    >>> import numpy as np, tenfold
    >>> s = tenfold.Symmetric(np.array([[1.0, 2.0], [2.0, 3.0]]), [(1, 0)])
    >>> s.symmetries
    [Symmetry(permutation=(1, 0), operation='x', packed=False)]
    """

    array: npt.NDArray[Any]
    symmetries: list[Symmetry]
    pack: bool = True
    tolerance: float | None = None

    def __init__(
        self,
        array: npt.ArrayLike,
        symmetries: Sequence[Symmetry | Sequence[int]],
        pack: bool = True,
        *,
        tolerance: float | None = None,
    ) -> None:
        self.array = np.asarray(array)
        self.symmetries = [
            symmetry if isinstance(symmetry, Symmetry) else Symmetry(tuple(symmetry))
            for symmetry in symmetries
        ]
        self.pack = pack
        self.tolerance = tolerance

    def dense(self) -> npt.NDArray[Any]:
        """All cells."""
        return self.array

    def __repr__(self) -> str:
        declared = counted(len(self.symmetries), "symmetry", "symmetries")
        how = "packed" if self.pack else "not packed"
        return f"<Symmetric {self.array.dtype} {short(self.array.shape)} {declared}, {how}>"


@dataclass(repr=False)
class Labelled:
    """Blocks of cells, each under labels instead of positions.

    `labels[i]` has one label for each of the mapped dimensions, `blocks[i]` is the block under them.
    """

    mapped: tuple[str, ...]
    """The names of the dimensions addressed by label."""
    labels: list[tuple[str, ...]]
    blocks: npt.NDArray[Any]
    dims: tuple[str | None, ...] = ()
    """The names of the dimensions of a block."""
    attrs: dict[str, Any] = field(default_factory=dict)

    @property
    def coords(self) -> dict[str, list[str]]:
        """The labels along each mapped dimension, in order of first appearance."""
        columns = zip(*self.labels, strict=True) if self.labels else [()] * len(self.mapped)
        return {
            name: list(dict.fromkeys(column))
            for name, column in zip(self.mapped, columns, strict=True)
        }

    def dense(self, fill: Any = 0) -> npt.NDArray[Any]:
        """An array with a position for every label, as `coords` lists them; `fill` where no block is.

        >>> import numpy as np, tenfold
        >>> t = tenfold.Labelled(("cat",), [("a",), ("b",)], np.array([[1.0, 2.0], [3.0, 4.0]]))
        >>> t.coords, t.dense().tolist()
        ({'cat': ['a', 'b']}, [[1.0, 2.0], [3.0, 4.0]])
        """
        coords = self.coords
        sizes = tuple(len(labels) for labels in coords.values())
        array = np.full(sizes + self.blocks.shape[1:], fill, dtype=self.blocks.dtype)
        if self.labels:
            places = [{label: at for at, label in enumerate(own)} for own in coords.values()]
            index = tuple(
                np.array([place[label] for label in column])
                for place, column in zip(places, zip(*self.labels, strict=True), strict=True)
            )
            array[index] = self.blocks
        return array

    def __repr__(self) -> str:
        block = f"{self.blocks.dtype} {short(self.blocks.shape[1:])}"
        return f"<Labelled {short(self.mapped)} {counted(len(self.labels), 'block')} of {block}>"

    def __getitem__(self, labels: str | tuple[str, ...]) -> npt.NDArray[Any]:
        """The block with these labels."""
        wanted = (labels,) if isinstance(labels, str) else tuple(labels)
        try:
            return np.asarray(self.blocks[self.labels.index(wanted)])
        except ValueError:
            raise KeyError(labels) from None


def core_of_array(
    array: npt.NDArray[Any],
    names: Sequence[str | None] | None = None,
    attrs: Attrs | None = None,
) -> _tenfold.TensorCore:
    """A tensor over the memory of an array; large contiguous ones are not copied."""
    dtype = array.dtype
    word = name_of(dtype)
    if word in SMALL:
        memory = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
        return _tenfold.opaque(memory, word, array.shape)
    is_column_major = False
    flags = array.flags
    if not flags.c_contiguous:
        if flags.f_contiguous:
            is_column_major = True
        else:
            array = np.ascontiguousarray(array)
    shape = array.shape
    # A tensor without dimensions has no buffer.
    data: Any = array if shape else array.reshape(1)
    if word == "bf16":
        # The buffer protocol has no such type.
        data = data.view(np.uint16)
    if names is None and attrs is None:
        return _tenfold.dense(data, word, shape, is_column_major)
    listed = None if names is None else list(names)
    described = None if attrs is None else dict(attrs)
    return _tenfold.dense(data, word, shape, is_column_major, listed, described)


def _core_of_sparse(value: Any) -> _tenfold.TensorCore:
    found = value.tocoo(copy=True)
    found.sum_duplicates()
    coords = getattr(found, "coords", None) or (found.row, found.col)
    columns = [np.ascontiguousarray(column, dtype=np.uint64) for column in coords]
    data = np.ascontiguousarray(found.data)
    return _tenfold.sparse(columns, data, name_of(data.dtype), list(found.shape))


def _core_of_labelled(value: Labelled) -> _tenfold.TensorCore:
    blocks = np.ascontiguousarray(value.blocks)
    word = name_of(blocks.dtype)
    if len(value.labels) != len(blocks):
        raise InvalidRequest(f"{len(value.labels)} labels for {len(blocks)} blocks")
    if word == "bf16":
        blocks = blocks.view(np.uint16)
    names = list(value.dims) or None
    labels = [list(own) for own in value.labels]
    return _tenfold.labelled(
        labels, blocks, word, list(value.mapped), list(blocks.shape[1:]), names, value.attrs
    )


def _core_of_symmetric(value: Symmetric) -> _tenfold.TensorCore:
    # Packed cells are stored in column-major order.
    array = np.asfortranarray(value.array) if value.pack else value.array
    pairs = [(list(own.permutation), own.operation) for own in value.symmetries]
    return _tenfold.symmetric(core_of_array(array), pairs, value.pack, value.tolerance)


_TORCH = {"torch.bfloat16": "bf16", **{f"torch.{name}": own for own, name in SMALL.items()}}
"""The types of PyTorch that NumPy does not have."""


def _core_of_torch(value: Any) -> _tenfold.TensorCore:
    value = value.detach().cpu()
    if str(value.dtype) == "torch.float4_e2m1fn_x2":
        return _core_of_pairs(value)
    word = _TORCH.get(str(value.dtype))
    if word is None:
        way = "dequantize() or view() it first"
        if str(value.dtype).startswith(("torch.q", "torch.bits")):
            raise InvalidRequest(f"no file has {value.dtype}: {way}")
        try:
            array = value.resolve_conj().resolve_neg().numpy()
        except TypeError as error:
            if str(value.layout) != "torch.strided":
                raise InvalidRequest(f"a tensor with layout {value.layout}: to_dense() it first") from error
            raise InvalidRequest(f"no file has {value.dtype}: {way}") from error
        return core_of_array(array)
    import torch

    bits = torch.int16 if word == "bf16" else torch.uint8
    memory = value.contiguous().view(bits).numpy().reshape(-1)
    if word == "bf16":
        return _tenfold.dense(memory, word, tuple(value.shape))
    return _tenfold.opaque(memory, word, tuple(value.shape))


def _core_of_pairs(value: Any) -> _tenfold.TensorCore:
    """Four-bit floats: shapes of PyTorch count the pairs, those of a file the floats."""
    import torch

    if not value.shape:
        raise InvalidRequest("a pair of floats of four bits has no dimension to lie along")
    shape = (*value.shape[:-1], value.shape[-1] * 2)
    memory = value.contiguous().view(torch.uint8).numpy().reshape(-1)
    return _tenfold.opaque(memory, "F4", shape)


def package_of(kind: type) -> str:
    """The package of a type."""
    return kind.__module__.partition(".")[0]


def module_of(value: object) -> str:
    """The package of a value's type."""
    return package_of(type(value))


def core_of(value: Any) -> _tenfold.TensorCore:
    """The tensor for a value of any library."""
    if type(value) is np.ndarray:
        return core_of_array(value)
    core = getattr(value, "_tenfold_core", None)
    if core is not None:
        made: _tenfold.TensorCore = core()
        return made
    if isinstance(value, Symmetric):
        return _core_of_symmetric(value)
    if isinstance(value, Labelled):
        return _core_of_labelled(value)
    module = module_of(value)
    if module == "scipy" and hasattr(value, "tocoo"):
        return _core_of_sparse(value)
    if module == "xarray" and hasattr(value, "dims") and hasattr(value, "values"):
        names = [str(name) for name in value.dims]
        return core_of_array(np.asarray(value.values), names, _plain(value.attrs))
    if module == "torch" and hasattr(value, "detach"):
        return _core_of_torch(value)
    if hasattr(value, "__array__") or not hasattr(value, "__dlpack__"):
        return core_of_array(np.asarray(value))
    return core_of_array(np.from_dlpack(value))


def _plain(attrs: Mapping[Any, Any]) -> dict[str, Any] | None:
    """Attributes as metadata; those it cannot hold are stored as text."""
    kept: dict[str, Any] = {}
    for name, value in attrs.items():
        is_plain = isinstance(value, (str, bytes, bool, int, float, list, tuple, dict, np.generic))
        kept[str(name)] = value if is_plain or value is None else str(value)
    return kept or None
