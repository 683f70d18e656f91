"""Files as datasets of xarray: `xr.open_dataset(path, engine="tenfold")`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import xarray
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from ._dtypes import numpy_type
from ._file import File
from ._file import open as open_file
from ._reports import formats
from ._tensor import Tensor


class _Lazy(BackendArray):
    """The values of one tensor, read on indexing."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self.shape = tensor.shape
        self.dtype, _ = numpy_type(tensor.element)

    def __getitem__(self, key: Any) -> Any:
        support = indexing.IndexingSupport.OUTER_1VECTOR
        return indexing.explicit_indexing_adapter(key, self.shape, support, self._read)

    def _read(self, key: tuple[Any, ...]) -> Any:
        return np.asarray(self.tensor[key])


def _dims(tensor: Tensor, name: str) -> tuple[str, ...]:
    return tuple(own or f"{name}_dim_{at}" for at, own in enumerate(tensor.dims))


def _variable(tensor: Tensor, name: str) -> xarray.Variable:
    if "<" in tensor.element or tensor.element == "c256":
        # One more axis, for the components of a number.
        return xarray.Variable((*_dims(tensor, name), f"{name}_part"), tensor.numpy(), tensor.attrs)
    data = indexing.LazilyIndexedArray(_Lazy(tensor))
    return xarray.Variable(_dims(tensor, name), data, tensor.attrs)


def _labelled(tensor: Tensor, name: str, fill: Any) -> tuple[xarray.Variable, dict[str, Any]]:
    """A labelled tensor with positions, and the labels as coordinates."""
    found = tensor.labelled()
    dims = (*found.mapped, *(own or f"{name}_dim_{at}" for at, own in enumerate(found.dims)))
    coords = {own: (own, np.array(labels, dtype=object)) for own, labels in found.coords.items()}
    return xarray.Variable(dims, found.dense(fill), tensor.attrs), coords


def dataset(file: File, fill: Any = np.nan, drop: Iterable[str] = ()) -> xarray.Dataset:
    """All tensors of a file as variables; opaque ones are omitted."""
    variables: dict[str, Any] = {}
    coords: dict[str, Any] = {}
    left_out = set(drop)
    for name, tensor in file.items():
        if name in left_out or tensor.storage == "opaque":
            continue
        if tensor.storage != "labelled":
            variables[name] = _variable(tensor, name)
            continue
        variable, labels = _labelled(tensor, name, fill)
        for own, column in labels.items():
            known = coords.setdefault(own, column)
            if not np.array_equal(known[1], column[1]):
                # Two tensors that label a dimension differently each keep their own.
                dims = [f"{name}_{own}" if dim == own else dim for dim in variable.dims]
                variable = xarray.Variable(dims, variable.data, variable.attrs)
                coords[f"{name}_{own}"] = (f"{name}_{own}", column[1])
        variables[name] = variable
    return xarray.Dataset(variables, coords, file.metadata)


class TenfoldBackend(BackendEntrypoint):
    """Opens files of every format of this package."""

    description = "Tensor files of many formats"
    url = "https://pypi.org/project/tenfold"
    open_dataset_parameters = ("filename_or_obj", "drop_variables", "fill", "format", "io")

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        fill: Any = np.nan,
        format: str | None = None,
        io: Any = "auto",
    ) -> xarray.Dataset:
        """A dataset whose variables are read when they are used.

        `fill` is what cells have that no labeled block covers.
        """
        dropped = [drop_variables] if isinstance(drop_variables, str) else drop_variables or ()
        file = open_file(filename_or_obj, format=format, io=io)
        found = dataset(file, fill, dropped)
        found.set_close(file.close)
        return found

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Whether the file has an extension that no other engine claims."""
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            return False
        ending = os.path.splitext(os.fspath(filename_or_obj))[1].removeprefix(".").lower()
        own = {ending for format in formats() for ending in format.extensions}
        return ending in own - {"bin", "json", "txt"}
