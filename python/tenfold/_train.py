"""Tensor trains."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _index, _tenfold
from ._dtypes import name_of
from ._errors import InvalidRequest
from ._reports import _lone
from ._save import Progress, Report, _callback, save
from ._short import short
from ._values import core_of


class TensorTrain:
    """A tensor as a chain of small cores; a cell is the product of one matrix of each.

    >>> import numpy as np, tenfold
    >>> i, j, k = np.ogrid[:20, :20, :20]
    >>> t = tenfold.compress(1 / (i + j + k + 1), eps=1e-6)
    >>> t.shape, t.error <= 1e-6, bool(abs(t[1, 2, 3] - 1 / 7) < 1e-6)
    ((20, 20, 20), True, True)
    """

    __slots__ = ("__weakref__", "_cells", "_core", "_error", "_report")

    def __init__(
        self,
        core: _tenfold.TrainCore,
        error: float | None = None,
        report: dict[str, Any] | None = None,
    ) -> None:
        self._core = core
        self._error = error
        self._report = report or {}
        self._cells: _tenfold.TensorCore | None = None

    @classmethod
    def from_cores(cls, cores: Sequence[npt.ArrayLike]) -> TensorTrain:
        """A train from its cores, each of shape (rank, size, next rank)."""
        arrays = [np.asarray(core) for core in cores]
        if not arrays or any(core.ndim != 3 for core in arrays):
            raise InvalidRequest("a train needs cores with three dimensions each")
        common = np.result_type(*arrays)
        kind = np.dtype("<c16") if common.kind == "c" else np.dtype("<f8")
        arrays = [np.ascontiguousarray(core, dtype=kind) for core in arrays]
        ranks = [core.shape[0] for core in arrays] + [arrays[-1].shape[2]]
        shape = [core.shape[1] for core in arrays]
        tensor = _tenfold.train(arrays, name_of(kind), ranks, shape)
        return cls(_tenfold.TrainCore.of_tensor(tensor))

    def _tenfold_core(self) -> _tenfold.TensorCore:
        return self._core.tensor()

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of its dimensions."""
        return tuple(self._core.shape)

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self._core.shape)

    @property
    def dtype(self) -> np.dtype:
        """`float64` or `complex128`."""
        return np.dtype("<c16" if self._core.is_complex else "<f8")

    @property
    def ranks(self) -> tuple[int, ...]:
        """The sizes of the bonds, from 1 to 1."""
        return tuple(self._core.ranks)

    @property
    def size(self) -> int:
        """How many numbers the cores hold together."""
        return self._core.count

    @property
    def nbytes(self) -> int:
        """How many bytes the cores take."""
        return self._core.count * self.dtype.itemsize

    @property
    def cores(self) -> list[npt.NDArray[Any]]:
        """The cores, each of shape (rank, size, next rank); copies."""
        return self._core.tensor().cores()

    @property
    def error(self) -> float | None:
        """A proven bound on the relative error of what it was compressed or rounded from, in the
        Frobenius norm; `None` if it was not."""
        return self._error

    @property
    def report(self) -> dict[str, Any]:
        """How the compression went: `norm`, `ratio`, `route`, `seconds`, `notes`."""
        return dict(self._report)

    def full(self) -> npt.NDArray[Any]:
        """All cells."""
        return self._core.tensor(True).numpy("C", False)

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("a tensor train has no cells that could be had without a copy")
        array = self.full()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __getitem__(self, index: Any) -> Any:
        """The cells at `index`, by the rules of NumPy; no others are worked out."""
        if self._cells is None:
            self._cells = self._core.tensor()
        return _index.take(self._cells.read_box, self.shape, index)

    def round(self, eps: float = 0.0, max_rank: int | None = None) -> TensorTrain:
        """A train of smaller ranks within `eps`, relative to its norm; `error` says how near it is."""
        core, left_out = self._core.round(eps, max_rank)
        norm = self._core.norm()
        return TensorTrain(core, left_out / norm if norm else 0.0)

    def norm(self) -> float:
        """The Frobenius norm."""
        return self._core.norm()

    def spectra(self) -> list[npt.NDArray[np.float64]]:
        """The singular values at every bond."""
        return [np.array(own) for own in self._core.spectra()]

    def sum(self) -> Any:
        """The sum of all cells."""
        return self._number(self._core.sum())

    def dot(self, other: TensorTrain) -> Any:
        """The sum over all cells of the conjugate of this one times the other."""
        found = self._core.dot(other._core)
        is_complex = self._core.is_complex or other._core.is_complex
        return complex(*found) if is_complex else found[0]

    def _number(self, parts: tuple[float, float]) -> Any:
        return complex(*parts) if self._core.is_complex else parts[0]

    def __add__(self, other: TensorTrain) -> TensorTrain:
        if not isinstance(other, TensorTrain):
            return NotImplemented
        return TensorTrain(self._core.add(other._core))

    def __sub__(self, other: TensorTrain) -> TensorTrain:
        if not isinstance(other, TensorTrain):
            return NotImplemented
        return TensorTrain(self._core.sub(other._core))

    def __mul__(self, other: Any) -> TensorTrain:
        if isinstance(other, TensorTrain):
            return TensorTrain(self._core.multiply(other._core))
        if np.ndim(other) != 0:
            return NotImplemented
        factor = complex(other)
        return TensorTrain(self._core.scale(factor.real, factor.imag))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> TensorTrain:
        if np.ndim(other) != 0 or isinstance(other, TensorTrain):
            return NotImplemented
        return self * (1 / complex(other))

    def __neg__(self) -> TensorTrain:
        return self * -1

    def save(self, path: str | os.PathLike[str], **how: Any) -> Report:
        """Saves the cores: as `.blz`, or in another format that holds trains. As `tenfold.save`."""
        return save(path, self, **how)

    def __repr__(self) -> str:
        error = "" if self._error is None else f" error {self._error:.2g}"
        return f"<TensorTrain {short(self.shape)} ranks {short(self.ranks)}{error}>"


def compress(
    x: Any,
    eps: float | None = 1e-6,
    max_rank: int | None = None,
    *,
    absolute: float | None = None,
    best_effort: bool = False,
    progress: Progress = None,
) -> TensorTrain:
    """The tensor train within `eps` of a tensor, relative to its norm: proven.

    Takes whatever `save` takes, and the path, the bytes or the open file of a file with one tensor.

    `eps=0` asks for one that is exact up to rounding; `eps=None` with `max_rank` for the best of
    that rank, whatever its error. `absolute` bounds the norm of the difference. If the rank does not
    allow the tolerance, `RankLimitReached` says what it allows, or `best_effort=True` takes that.
    A tensor of a file may be larger than memory.
    """
    wanted = {"eps": eps, "absolute": absolute, "max_rank": max_rank, "best_effort": best_effort}
    core, report = _tenfold.compress(core_of(_lone(x)), wanted, _callback(progress))
    return TensorTrain(core, report["relative_error"], report)
