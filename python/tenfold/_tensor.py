"""Lazy tensors of a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _index, _tenfold
from ._dtypes import SMALL, numpy_type, type_or_void, word_of
from ._errors import InvalidRequest, MissingPackage
from ._short import short
from ._values import Labelled, Symmetric, Symmetry

if TYPE_CHECKING:
    from ._reports import Stats
    from ._train import TensorTrain


def reopened(path: str, key: str, how: dict[str, Any]) -> Tensor:
    """The tensor `key` of the file `path`: restores a pickled handle."""
    from ._file import open as open_file

    return open_file(path, **how)[key]


class Tensor:
    """A tensor whose values stay in the file until they are accessed.

    Index it as a NumPy array (`t[:, :128]`), or take everything (`t.numpy()`, `np.asarray(t)`,
    `np.from_dlpack(t)`, `t.torch()`). It keeps its file open; pickling it keeps the path.
    """

    __slots__ = ("__weakref__", "_core", "_how", "_key", "_path")

    def __init__(
        self,
        core: _tenfold.TensorCore,
        key: str = "",
        path: str | None = None,
        how: dict[str, Any] | None = None,
    ) -> None:
        self._core = core
        self._key = key
        self._path = path
        self._how = how

    def _tenfold_core(self) -> _tenfold.TensorCore:
        return self._core

    @property
    def key(self) -> str:
        """Its name in the file."""
        return self._key

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of its dimensions; `None` for one addressed by label."""
        # Typed for the common case: without labels, all sizes are integers.
        return self._core.shape  # type: ignore[return-value]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._core.shape)

    @property
    def size(self) -> int:
        """The number of cells; for a labelled tensor, of one block."""
        count = 1
        for size in self._core.shape:
            count *= 1 if size is None else size
        return count

    @property
    def dtype(self) -> np.dtype:
        """The element type in NumPy; see `tenfold.dtypes` for types that NumPy does not have.

        A void type stands for those that no array can have: quantized blocks, and `bf16` where
        `ml_dtypes` is not installed.
        """
        return type_or_void(self._core.dtype)

    @property
    def element(self) -> str:
        """The element type in this package's notation: `f32`, `bf16`, `quaternion<f64>`, `q4_0`."""
        return self._core.dtype

    @property
    def dims(self) -> tuple[str | None, ...]:
        """The names of its dimensions, if they have any."""
        return self._core.dims

    @property
    def nbytes(self) -> int:
        """The number of bytes of all cells."""
        return self._core.nbytes

    @property
    def stored_nbytes(self) -> int:
        """The number of bytes it takes in the file."""
        return self._core.stored_nbytes

    @property
    def storage(self) -> str:
        """Its storage: `dense`, `sparse`, `labelled`, `train` or `opaque`."""
        return self._core.storage

    @property
    def order(self) -> str | None:
        """`C` or `F` for a dense tensor: the index that varies fastest in the file."""
        return self._core.order

    @property
    def symmetries(self) -> list[Symmetry]:
        """The symmetries declared by the file."""
        return [Symmetry(tuple(own), code, packed) for own, code, packed in self._core.symmetries]

    @property
    def attrs(self) -> dict[str, Any]:
        """Its metadata in the file."""
        return self._core.attrs

    @property
    def ranks(self) -> list[int] | None:
        """The ranks of a tensor train; `None` for any other tensor."""
        return self._core.ranks

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a tensor without dimensions")
        if self.shape[0] is None:
            raise TypeError("len() of a tensor whose first dimension has labels: labelled() has them")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        for place in range(len(self)):
            yield self[place]

    def __repr__(self) -> str:
        sizes = ", ".join("labels" if size is None else str(size) for size in self._core.shape[:12])
        comma = "," if self.ndim == 1 else ", …" if self.ndim > 12 else ""
        name = f"{short(self._key)}: " if self._key else ""
        return f"<Tensor {name}{self.element} ({sizes}{comma}) {self.storage}>"

    def _repr_html_(self) -> str:
        from ._html import page

        return page(self)

    def numpy(
        self,
        dtype: npt.DTypeLike | None = None,
        *,
        order: str = "K",
        copy: bool = False,
    ) -> npt.NDArray[Any]:
        """All values as an array: sparse and packed tensors with every cell, trains evaluated.

        Where the bytes in a mapped file are what NumPy wants, the array is a view of them: private,
        so that writing to it changes the array and not the file, and alive as long as it is used.
        All views of one `File` share their memory.
        `copy=True` never gives a view. `order` is `C`, `F`, or `K` for what the file has. `dtype`
        casts, exactly or to the nearest; quantized tensors need it.
        """
        if self.element in SMALL:
            found = self._core.bit_view().numpy(order, copy).view(numpy_type(self.element)[0])
            return found if dtype is None else found.astype(numpy_type(word_of(dtype))[0])
        if dtype is not None:
            word = word_of(dtype)
            if word != self.element:
                return self._core.cast(self._number(word)).numpy(order, False)
        return self._core.numpy(order, copy)

    def astype(self, dtype: npt.DTypeLike) -> Tensor:
        """The same tensor cast to another type, lazily."""
        return Tensor(self._core.cast(self._number(word_of(dtype))), self._key, self._path)

    def _number(self, word: str) -> str:
        """The number type to cast to; the number of components per element stays the same."""
        parts, own = {"c64": "f32", "c128": "f64", "c256": "f128"}, self.element
        is_complex = own in parts or own.startswith("complex<")
        if word in parts:
            if not is_complex:
                raise self._refusal(f"{own} cannot be cast to {word}: numpy().astype() can")
            return parts[word]
        if is_complex:
            raise self._refusal(f"{own} cannot be cast to {word}: take .real or abs() of numpy()")
        return word

    def _refusal(self, why: str) -> InvalidRequest:
        """The error for an invalid request on this tensor, with its name and that of its file."""
        return InvalidRequest(": ".join(filter(None, [self._path, self._key, why])))

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        if copy is False and self._core.as_view() is None:
            raise ValueError("the values cannot be had without a copy")
        array = self.numpy(copy=bool(copy))
        return array if dtype is None else array.astype(dtype, copy=False)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **how: Any) -> Any:
        return getattr(ufunc, method)(*_arrays(inputs, f"numpy.{ufunc.__name__}"), **how)

    def __array_function__(
        self, function: Callable[..., Any], types: object, args: Any, how: dict[str, Any]
    ) -> Any:
        name = f"{function.__module__}.{function.__name__}"
        return function(*_arrays(args, name), **_arrays(how, name))

    def __matmul__(self, other: Any) -> Any:
        first, second = _arrays((self, other), "@")
        return first @ second

    def __rmatmul__(self, other: Any) -> Any:
        first, second = _arrays((other, self), "@")
        return first @ second

    def __dlpack__(self, **how: Any) -> Any:
        return self.numpy().__dlpack__(**how)

    def __dlpack_device__(self) -> tuple[int, int]:
        # Host memory, by DLPack's number.
        return (1, 0)

    def __getitem__(self, index: Any) -> Any:
        """The cells at `index`, by the rules of NumPy; only these are read.

        Whole numbers, slices with any step, `...`, `None`, and one array (or list) of whole numbers
        or of booleans.
        """
        if self.element in SMALL:
            return Tensor(self._core.bit_view())[index].view(numpy_type(self.element)[0])
        view = _whole_elements(self._core)
        if view is not None:
            return view[index]
        if self.storage == "labelled":
            raise self._refusal("it has labels, not positions: labelled() gives its blocks")
        return _index.take(self._core.read_box, self.shape, index)

    def torch(self, device: Any = None) -> Any:
        """All values as a tensor of PyTorch, bf16 included; without a copy where `numpy()` has none."""
        found = self._torch_part(...)
        return found if device is None else found.to(device)

    def _torch_part(self, index: Any) -> Any:
        """The cells at `index` as a tensor of PyTorch, which has words that NumPy lacks.

        A view of a mapped file is indexed by PyTorch's rules, what has to be read by NumPy's.
        """
        import torch as pytorch

        if self.element == "F4":
            return self._torch_pairs(pytorch)[index].view(pytorch.float4_e2m1fn_x2)
        name = "bfloat16" if self.element == "bf16" else SMALL.get(self.element)
        if self.element == "bool" and index is not ... and (view := self._core.bit_view().as_view()) is not None:
            # In a file the byte of a bool may have any value, here only 0 or 1.
            return pytorch.from_numpy(view)[index].ne(0)
        core = self._core if name is None else self._core.bit_view()

        def taken(array: npt.NDArray[Any]) -> Any:
            # Older versions of PyTorch accept only signed integers.
            return pytorch.from_numpy(array.view(np.int16) if name == "bfloat16" else array)

        if index is ...:
            found = taken(core.numpy())
        elif not self.size:
            # An empty tensor has no view.
            found = taken(core.numpy())[index]
        elif (view := _whole_elements(core)) is not None:
            found = taken(view)[index]
        else:
            found = taken(np.asarray(Tensor(core)[index]))
        return found if name is None else found.view(getattr(pytorch, name))

    def _torch_pairs(self, pytorch: Any) -> Any:
        """The bytes of four-bit floats, two of which share a byte along the last dimension."""
        if not self.shape or self.shape[-1] % 2:
            raise self._refusal(f"F4 in PyTorch needs an even last dimension, not {self.shape}")
        shape = (*self.shape[:-1], self.shape[-1] // 2)
        return pytorch.from_numpy(self._core.bit_view().numpy()).reshape(shape)

    def sparse(self) -> Any:
        """The explicit cells of a sparse tensor, or those of any other that are not zero.

        A matrix comes as `scipy.sparse.coo_array` if SciPy is installed; everything else as
        coordinates, one row a dimension, and values.
        """
        if self.storage == "labelled":
            raise self._refusal("it has labels, not positions: labelled() gives its blocks")
        if self.storage == "sparse":
            coords, values = self._core.coordinates()
        else:
            array = self.numpy()
            coords = np.argwhere(array).T.astype(np.int64)
            values = array.reshape(-1)[np.flatnonzero(array)]
        if self.ndim == 2:
            try:
                from scipy.sparse import coo_array
            except ImportError:
                return coords, values
            return coo_array((values, (coords[0], coords[1])), shape=self.shape)
        return coords, values

    def labelled(self) -> Labelled:
        """The blocks of a labelled tensor with their labels."""
        if self.storage != "labelled":
            raise self._refusal("it has positions, not labels")
        labels, blocks = self._core.blocks()
        pairs = list(zip(self.dims, self._core.shape, strict=True))
        return Labelled(
            mapped=tuple(name or "" for name, size in pairs if size is None),
            labels=[tuple(own) for own in labels],
            blocks=blocks,
            dims=tuple(name for name, size in pairs if size is not None),
            attrs=self.attrs,
        )

    def symmetric(self) -> Symmetric:
        """All cells, with the symmetries declared by the file."""
        packed = any(symmetry.packed for symmetry in self.symmetries)
        return Symmetric(self.numpy(), self.symmetries, pack=packed)

    def train(self) -> TensorTrain:
        """The tensor train that it is stored as."""
        from ._train import TensorTrain

        return TensorTrain(_tenfold.TrainCore.of_tensor(self._core))

    def stats(self) -> Stats:
        """Statistics of all values; see `tenfold.stats`."""
        from ._reports import stats

        return stats(self)

    def to_dask(self, chunks: Any = "auto") -> Any:
        """A dask array that reads its chunks when they are computed."""
        try:
            import dask.array
        except ImportError as error:
            raise MissingPackage("to_dask needs the package dask (pip install dask)") from error
        dtype, _ = numpy_type(self.element)
        return dask.array.from_array(  # type: ignore[no-untyped-call, unused-ignore]
            self, chunks=chunks, name=False, asarray=False, fancy=False, meta=np.empty(0, dtype)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        if self._path is None or self._how is None:
            raise TypeError("only a tensor of a file on disk can be pickled: it is opened again there")
        return reopened, (os.path.abspath(self._path), self._key, self._how)


def _arrays(values: Any, what: str) -> Any:
    """The same with arrays in place of tensors; a train is not expanded by what merely computes with it."""
    if isinstance(values, Tensor):
        if values.storage == "train":
            ways = "train() gives one that is computed with, numpy() all cells"
            raise TypeError(f"{what} would expand the train: {ways}")
        return values.numpy()
    if isinstance(values, tuple):
        return tuple(_arrays(value, what) for value in values)
    if isinstance(values, list):
        return [_arrays(value, what) for value in values]
    if isinstance(values, dict):
        return {name: _arrays(value, what) for name, value in values.items()}
    return values


def _whole_elements(core: _tenfold.TensorCore) -> npt.NDArray[Any] | None:
    """A view of the file, if an element is a single NumPy number."""
    has_parts = "<" in core.dtype or core.dtype == "c256"
    return None if has_parts else core.as_view()
