"""Tensor trains."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from . import _index, _tenfold
from ._dtypes import name_of
from ._errors import InvalidRequest
from ._file import Duplicates
from ._reports import _lone
from ._save import save
from ._short import short
from ._train_numpy import by_method, by_operator, is_number, refuse
from ._values import core_of
from ._writing import Progress, Report, callback

_Axes = int | Sequence[int] | None
_Number = int | float | complex
_MOST_CELLS = 2**1000
"""Means over more cells are not computed from a count, which may be out of range of a double."""


def _restored(
    cores: list[npt.NDArray[Any]], error: float | None, report: dict[str, Any]
) -> TensorTrain:
    """Restores a pickled train."""
    return TensorTrain(TensorTrain.from_cores(cores)._core, error, report)


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
        """The number of dimensions."""
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
        """The number of elements in all cores."""
        return self._core.count

    @property
    def nbytes(self) -> int:
        """The number of bytes of the cores."""
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
        """The report of the compression: `norm`, `ratio`, `route`, `seconds`, `notes`."""
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
        """The cells at `index`, by the rules of NumPy; no others are computed."""
        if self._cells is None:
            self._cells = self._core.tensor()
        return _index.take(self._cells.read_box, self.shape, index)

    def round(self, eps: float = 0.0, max_rank: int | None = None) -> TensorTrain:
        """A train of smaller ranks within `eps`, relative to its norm; `error` is its proven error."""
        core, left_out = self._core.round(eps, max_rank)
        norm = self._core.norm()
        return TensorTrain(core, left_out / norm if norm else 0.0)

    def norm(self) -> float:
        """The Frobenius norm."""
        return self._core.norm()

    def spectra(self) -> list[npt.NDArray[np.float64]]:
        """The singular values at every bond."""
        return [np.array(own) for own in self._core.spectra()]

    def sum(self, axis: _Axes = None, *, keepdims: bool = False) -> Any:
        """The sum of all cells, or the train of the sums over some dimensions.

        These disappear, or with `keepdims` are left with size 1.
        """
        axes = self._axes(axis)
        if len(axes) == self.ndim:
            return self._kept_number(self._number(self._core.sum()), keepdims)
        return self._kept(TensorTrain(self._core.sum_over(axes)), axes, keepdims)

    def mean(self, axis: _Axes = None, *, keepdims: bool = False) -> Any:
        """The mean of all cells, or the train of the means over some dimensions; as `sum`."""
        axes = self._axes(axis)
        found = self._usual_mean(axes)
        if found is None:
            # Divides every cell by the sizes first: slower, but correct if sums or counts are out of range.
            cores = self.cores
            for place in axes:
                cores[place] = cores[place] / self.shape[place]
            return TensorTrain.from_cores(cores).sum(axes, keepdims=keepdims)
        is_train = isinstance(found, TensorTrain)
        return self._kept(found, axes, keepdims) if is_train else self._kept_number(found, keepdims)

    def _usual_mean(self, axes: list[int]) -> Any:
        """The sum divided by the count; `None` if either is out of range."""
        if math.prod(self.shape[place] for place in axes) > _MOST_CELLS:
            return None
        if len(axes) < self.ndim:
            found = TensorTrain(self._core.mean_over(axes))
            return found if all(np.isfinite(core).all() for core in found.cores) else None
        try:
            return self._number(self._core.mean())
        except InvalidRequest:
            return None

    def _kept(self, sums: TensorTrain, axes: Sequence[int], keepdims: bool) -> TensorTrain:
        if not keepdims:
            return sums
        return sums.reshape([1 if axis in axes else size for axis, size in enumerate(self.shape)])

    def _kept_number(self, number: Any, keepdims: bool) -> Any:
        return np.full((1,) * self.ndim, number, self.dtype) if keepdims else number

    def _axes(self, axis: _Axes) -> list[int]:
        """Normalized dimensions, counted from the front; all for `None`."""
        if axis is None:
            return list(range(self.ndim))
        given = [axis] if np.ndim(axis) == 0 else list(axis)  # type: ignore[arg-type]
        places = [operator.index(place) for place in given]  # type: ignore[arg-type]
        if any(not -self.ndim <= place < self.ndim for place in places):
            raise InvalidRequest(f"axis {axis} is none of {self.ndim} dimensions")
        counted = [place % self.ndim for place in places]
        if len(set(counted)) < len(counted):
            raise InvalidRequest(f"axis {axis} names a dimension twice")
        return counted

    def append(self, other: TensorTrain, axis: int = 0) -> TensorTrain:
        """Concatenation of this train and another along `axis`; their other sizes are the same."""
        if not isinstance(other, TensorTrain):
            raise TypeError(f"append takes a TensorTrain, not {type(other).__name__}")
        places = [] if axis is None else self._axes(axis)
        if len(places) != 1:
            raise InvalidRequest(f"append goes along one dimension, not along axis={axis}")
        (place,) = places
        pairs = list(zip(self.shape, other.shape, strict=False))
        del pairs[place : place + 1]
        if self.ndim != other.ndim or any(own != others for own, others in pairs):
            shapes = f"{short(self.shape)} and {short(other.shape)}"
            raise InvalidRequest(f"append along axis {axis}: the other sizes of {shapes} differ")
        return TensorTrain(self._core.append(other._core, place))

    def transpose(self, *axes: Any, eps: float = 0.0) -> TensorTrain:
        """The train with its dimensions in another order, reversed if none is given.

        Reversing is exact. Otherwise neighbors are exchanged, each time within `eps` relative to the
        norm, and ranks may grow.
        """
        given = axes[0] if len(axes) == 1 and (axes[0] is None or np.ndim(axes[0])) else axes
        order = self._axes(tuple(given)) if given else list(range(self.ndim))[::-1]
        return TensorTrain(self._core.permute(order, eps))

    @property
    def T(self) -> TensorTrain:
        """The train with its dimensions reversed."""
        return self.transpose()

    def reshape(self, *shape: Any) -> TensorTrain:
        """The train of the same cells, row-major, under other sizes, of which one may be -1.

        Dimensions are merged and split; ranks are those of the new bonds, up to rounding.
        """
        sizes = [operator.index(size) for size in (shape[0] if np.ndim(shape[0]) else shape)]
        if sizes.count(-1) == 1:
            known = math.prod(size for size in sizes if size != -1)
            cells = math.prod(self.shape)
            sizes[sizes.index(-1)] = cells // known if known > 0 else 0
        if any(size < 1 for size in sizes):
            raise InvalidRequest(f"{self.shape} cannot become {tuple(sizes)}")
        return TensorTrain(self._core.reshape(sizes))

    def qtt(self) -> TensorTrain:
        """The train with every dimension split into its prime factors, the largest first."""
        return TensorTrain(self._core.quantise())

    def dot(self, other: TensorTrain) -> Any:
        """The sum over all cells of the conjugate of this one times the other."""
        if not isinstance(other, TensorTrain):
            raise TypeError(f"dot takes a TensorTrain, not {type(other).__name__}")
        found = self._core.dot(other._core)
        is_complex = self._core.is_complex or other._core.is_complex
        return complex(*found) if is_complex else found[0]

    def _number(self, parts: tuple[float, float]) -> Any:
        return complex(*parts) if self._core.is_complex else parts[0]

    def __len__(self) -> int:
        return self.shape[0]

    def __add__(self, other: TensorTrain | _Number) -> TensorTrain:
        if isinstance(other, TensorTrain):
            return TensorTrain(self._core.add(other._core))
        if not is_number(other):
            return NotImplemented
        number = complex(other)
        return TensorTrain(self._core.add_number(number.real, number.imag))

    __radd__ = __add__

    def __sub__(self, other: TensorTrain | _Number) -> TensorTrain:
        if isinstance(other, TensorTrain):
            return TensorTrain(self._core.sub(other._core))
        return self + -other if is_number(other) else NotImplemented

    def __rsub__(self, other: _Number) -> TensorTrain:
        return -self + other if is_number(other) else NotImplemented

    def __pow__(self, power: int) -> TensorTrain:
        """An elementwise power of this train; ranks multiply."""
        if not isinstance(power, (int, np.integer)) or power < 1:
            raise TypeError(f"a train is raised to whole powers of 1 and more, not to {power!r}")
        found = self
        for _ in range(int(power) - 1):
            found = found * self
        return found

    def __matmul__(self, other: object) -> NoReturn:
        refuse("@", "dot(other) is the sum of products")

    __rmatmul__ = __matmul__

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **how: Any) -> Any:
        return by_operator(ufunc, method, inputs, how)

    def __array_function__(
        self, function: Callable[..., Any], types: object, args: Any, how: dict[str, Any]
    ) -> Any:
        return by_method(function, args, how)

    def __mul__(self, other: Any) -> TensorTrain:
        if isinstance(other, TensorTrain):
            return TensorTrain(self._core.multiply(other._core))
        if not is_number(other):
            return NotImplemented
        factor = complex(other)
        return TensorTrain(self._core.scale(factor.real, factor.imag))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> TensorTrain:
        if not is_number(other):
            return NotImplemented
        return self * (1 / complex(other))

    def __pos__(self) -> TensorTrain:
        return self

    def __neg__(self) -> TensorTrain:
        return self * -1

    def save(self, path: str | os.PathLike[str], **how: Any) -> Report:
        """Saves the cores: as `.blz`, or in another format that holds trains. As `tenfold.save`.

        `version="2"` of `.blz` keeps the proven error as well.
        """
        ending = os.path.splitext(os.fspath(path))[1].lower()
        if how.get("version") == "2" and how.get("format") in (None, "blz") and ending == ".blz":
            how["metadata"] = {**self._certificate(), **(how.get("metadata") or {})}
        return save(path, self, **how)

    def _certificate(self) -> dict[str, Any]:
        """The proven error, as metadata of a file."""
        names = {
            "eps": "relative_tolerance",
            "max_rank": "max_rank",
            "dense_bytes": "dense_bytes",
            "error": "absolute_bound",
            "relative_error": "relative_bound",
        }
        known = {name: self._report.get(own) for own, name in names.items()}
        return {f"blz:{name}": value for name, value in known.items() if value is not None}

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.cores, self._error, self._report)

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
    duplicates: Duplicates | None = None,
    progress: Progress = None,
) -> TensorTrain:
    """The tensor train within `eps` of a tensor, relative to its norm: proven.

    Takes whatever `save` takes, and the path, the bytes or the open file of a file with one tensor.

    `eps=0` asks for one that is exact up to rounding; `eps=None` with `max_rank` for the best of
    that rank, whatever its error. `absolute` bounds the norm of the difference. If the rank does not
    permit the tolerance, `RankLimitReached` has the error it permits; `best_effort=True` accepts that.
    A tensor of a file may be larger than memory; `duplicates` is as for `open`.
    """
    wanted = {"eps": eps, "absolute": absolute, "max_rank": max_rank, "best_effort": best_effort}
    core, report = _tenfold.compress(core_of(_lone(x, duplicates)), wanted, callback(progress))
    report |= {"eps": eps, "max_rank": max_rank}
    return TensorTrain(core, report["relative_error"], report)
