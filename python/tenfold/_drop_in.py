"""Code shared by the drop-in modules for those of safetensors."""

from __future__ import annotations

import errno
import importlib
import operator
import os
import sys
from collections.abc import Mapping
from types import EllipsisType, TracebackType
from typing import Any

import numpy as np

from ._errors import FileError, InvalidRequest, MissingFile, SafetensorError
from ._file import File, Io
from ._file import open as open_file
from ._save import save as save_any
from ._tensor import Tensor
from ._writing import format_named

_FRAMEWORKS = {
    "np": "numpy",
    "numpy": "numpy",
    "pt": "torch",
    "torch": "torch",
    "pytorch": "torch",
    "tf": "tensorflow",
    "tensorflow": "tensorflow",
    "jax": "jax",
    "flax": "jax",
    "mlx": "mlx",
    "paddle": "paddle",
}
_DEVICES = ("cpu", "cuda", "mps", "npu", "xpu", "xla", "mlu", "musa", "hpu")
_BACKENDS: dict[str, Io] = {"mmap": "auto", "pread": "read"}
_SOONEST = ("torch", "paddle")
"""Packages required when a file is opened; others are required when a tensor is created."""
_MOST = sys.maxsize
"""The largest device number."""
_ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)
"""The system's message for a missing file."""
_SMALL = 1 << 16
"""Arrays up to this size are copied from a map rather than read."""


def target_format(filename: Any) -> str:
    """The format to save as: that of the extension, otherwise safetensors."""
    return format_named(os.fspath(filename), None) or "safetensors"


def texts(metadata: Mapping[str, str] | None) -> dict[str, str] | None:
    """Metadata, if names and values are strings, which is all that safetensors holds."""
    if metadata is None:
        return None
    if not isinstance(metadata, Mapping):
        raise TypeError(f"metadata is text by name, not {type(metadata).__name__}")
    for name, value in metadata.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise TypeError(f"metadata is text by name, not {value!r} by {name!r}")
    return dict(metadata)


def named(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Tensors by name, if the names are strings."""
    for name in (found := dict(tensors.items())):
        if not isinstance(name, str):
            raise TypeError(f"the name of a tensor is a text, not {name!r}")
    return found


def write(tensors: Mapping[str, Any], filename: Any, metadata: Mapping[str, str] | None) -> None:
    """Saves tensors in the format of the extension; errors of the system become a SafetensorError."""
    described, found = texts(metadata), named(tensors)
    try:
        save_any(filename, found, metadata=described, format=target_format(filename))
    except FileError as error:
        raise SafetensorError(str(error)) from error


def open_bytes(data: Any) -> File:
    """Opens the bytes of a safetensors file, and nothing else that could stand for a file."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"the bytes of a file are wanted, not {type(data).__name__}")
    return open_file(data, format="safetensors", io="read")


def _text(value: Any, argument: str) -> str:
    """An argument, if it is a string."""
    if not isinstance(value, str):
        raise TypeError(f"{argument} is a text, not {type(value).__name__}")
    return value


def _io(backend: str) -> Io:
    """How values are read from a file."""
    found = _BACKENDS.get(_text(backend, "backend"))
    if found is None:
        raise InvalidRequest(f"backend {backend!r} is not one of {', '.join(_BACKENDS)}")
    return found


def _framework(name: str) -> str:
    found = _FRAMEWORKS.get(_text(name, "framework"))
    if found is None:
        raise InvalidRequest(f"framework {name!r} is not one of {', '.join(_FRAMEWORKS)}")
    return found


def _device(device: Any, framework: str) -> Any:
    """The device in PyTorch's notation; `None` for the memory that values are read into."""
    if type(device).__module__ == "torch":
        device = str(device)
    if device is None or device == "cpu":
        return None
    if isinstance(device, str):
        name, colon, number = device.partition(":")
        is_known = name in _DEVICES and name != "cpu"
        is_numbered = number.isdecimal() and (name != "mps" or int(number) == 0)
        if not is_known or (colon and not is_numbered):
            raise InvalidRequest(f"device {device!r} is not one of {', '.join(_DEVICES)}")
    else:
        device = _numbered(device)
    if framework not in ("torch", "paddle"):
        raise InvalidRequest(f"device {device!r} is not supported for framework {framework}")
    return device


def _numbered(device: Any) -> int:
    """The device of a number, including one of NumPy's or a boolean."""
    try:
        number = operator.index(device)
    except TypeError:
        number = -1
    if not 0 <= number <= _MOST:
        raise InvalidRequest(f"device {device!r} is neither a name nor a number")
    return int(number)


class _Target:
    """The framework and the device that tensors are for."""

    def __init__(self, framework: str, device: Any) -> None:
        self.framework = _framework(framework)
        self.device = _device(device, self.framework)

    def moved(self, tensor: Any) -> Any:
        """A tensor of PyTorch on the device."""
        return tensor if self.device is None else tensor.to(self.device)

    def made(self, array: Any) -> Any:
        """A tensor of any other framework."""
        if self.framework == "numpy":
            return array
        if self.framework == "paddle":
            return self._paddle(array)
        module, function = {
            "tensorflow": ("tensorflow", "convert_to_tensor"),
            "jax": ("jax.numpy", "array"),
            "mlx": ("mlx.core", "array"),
        }[self.framework]
        return getattr(importlib.import_module(module), function)(array)

    def _paddle(self, array: Any) -> Any:
        if array.dtype.name == "bfloat16":
            # Paddle's interpretation of 16-bit integers of NumPy.
            array = array.view(np.uint16)
        elif array.dtype == np.uint16:
            raise InvalidRequest("Paddle has no u16: it takes such numbers for bf16")
        place = "cpu" if self.device is None else self.device
        place = f"gpu:{place}" if isinstance(place, int) else place.replace("cuda", "gpu")
        return importlib.import_module("paddle").to_tensor(array, place=place)


class Slice:
    """A tensor that is read on indexing."""

    def __init__(self, tensor: Tensor, target: _Target, is_mapped: bool) -> None:
        self._tensor = tensor
        self._target = target
        self._is_mapped = is_mapped

    def get_shape(self) -> list[int]:
        """The sizes of its dimensions."""
        return list(self._tensor.shape)

    def get_dtype(self) -> str:
        """The element type in safetensors' notation: `F32`, `BF16`."""
        return self._tensor.element.upper()

    def _shape(self) -> tuple[int, ...]:
        """The shape used for indexing: PyTorch counts pairs of four-bit floats."""
        shape = self._tensor.shape
        is_of_pairs = self._target.framework == "torch" and self._tensor.element == "F4" and shape
        return (*shape[:-1], shape[-1] // 2) if is_of_pairs else shape

    def __getitem__(self, index: Any) -> Any:
        """The cells at `index`: of a map by the rules of PyTorch, otherwise by those of safetensors."""
        if not self._is_mapped:
            index = _inside(index, self._shape())
        if self._target.framework == "torch":
            return self._target.moved(self._tensor._torch_part(index))
        return self._target.made(np.array(self._tensor[index]))


def _inside(index: Any, shape: tuple[int, ...]) -> Any:
    """An index of integers, slices and at most one ellipsis, within the bounds of each dimension."""
    if isinstance(index, list):
        if index:
            raise InvalidRequest("Non empty lists are not implemented")
        index = slice(0, 0)
    items = index if isinstance(index, tuple) else (index,)
    n_ellipses = sum(isinstance(item, EllipsisType) for item in items)
    if n_ellipses > 1:
        raise InvalidRequest("an index has one ellipsis at most")
    rest = [slice(None)] * max(len(shape) - len(items) + n_ellipses, 0)
    whole: list[Any] = []
    for item in items:
        whole += rest if isinstance(item, EllipsisType) else [item]
    found = [_along(item, axis, shape[axis] if axis < len(shape) else 0) for axis, item in enumerate(whole)]
    if len(whole) > len(shape):
        raise InvalidRequest(f"{len(whole)} indices for a tensor of {len(shape)} dimensions")
    shown = ", ".join(map(_shown, found))
    for axis, (item, size) in enumerate(zip(found, shape, strict=False)):
        asked = _beyond(item, size)
        if asked is not None:
            why = f"index {asked} out of bounds for tensor dimension #{axis} of size {size}"
            raise InvalidRequest(f"Error during slicing [{shown}] with shape {list(shape)}: {why}")
    return tuple(found)


def _along(item: Any, axis: int, size: int) -> slice | int:
    """One item of an index, counted from the start of its dimension; bounds of slices already are."""
    if isinstance(item, slice):
        start, stop = (None if end is None else _bound(end, axis) for end in (item.start, item.stop))
        step = 1 if item.step is None else operator.index(item.step)
        if step < 1:
            raise InvalidRequest(f"dimension {axis}: the step of a slice is positive, not {step}")
        return slice(start, stop, step)
    try:
        at = operator.index(item)
    except TypeError:
        kind = type(item).__name__
        why = f"dimension {axis}: a whole number, a slice or an ellipsis is wanted, not {kind}"
        raise InvalidRequest(why) from None
    if at < -size:
        raise InvalidRequest(f"Invalid index {at} for dimension {axis} of size {size}")
    return at + size if at < 0 else at


def _bound(value: Any, axis: int) -> int:
    """A bound of a slice, which must not be negative."""
    at = operator.index(value)
    if not 0 <= at < 1 << 64:
        kind = "negative" if at < 0 else "too large"
        raise OverflowError(f"dimension {axis}: the bound {at} of a slice is {kind}")
    return at


def _beyond(item: slice | int, size: int) -> int | None:
    """The position of an out-of-range item."""
    if isinstance(item, int):
        return item if item >= size else None
    if item.start and item.start >= size:
        return int(item.start)
    return int(item.stop) - 1 if item.stop is not None and item.stop > size else None


def _shown(item: slice | int) -> str:
    if isinstance(item, int):
        return str(item)
    start, stop = ("" if end is None else str(end) for end in (item.start, item.stop))
    return f"{start}:{stop}" if item.step == 1 else f"{start}:{stop}:{item.step}"


class SafeOpen:
    """An open file with the methods of `safetensors.safe_open`, of any format.

    `framework` is `np`, `pt`, `tf`, `jax`, `mlx` or `paddle`, `device` where PyTorch or Paddle is to have
    the tensors. With `backend="mmap"`, the default, tensors of PyTorch are views of a private map of
    the file, which may not become shorter while they are used; `"pread"` reads them. Tensors of all
    other frameworks have memory of their own.
    """

    def __init__(
        self, filename: Any, framework: str, device: Any = "cpu", *, backend: str = "mmap"
    ) -> None:
        self._target = _Target(framework, device)
        io = _io(backend)
        self._is_mapped = backend == "mmap" and self._target.framework == "torch"
        if isinstance(filename, (bytes, bytearray, memoryview)):
            raise TypeError(f"filename is a path or an open file, not {type(filename).__name__}")
        try:
            self._file = open_file(filename, io=io)
        except FileError as error:
            path = error.filename or filename
            if error.errno not in _ABSENT and "\0" not in str(path):
                raise
            raise MissingFile(f"No such file or directory: {os.fspath(path)}") from None
        if self._target.framework in _SOONEST:
            importlib.import_module(self._target.framework)

    def keys(self) -> list[str]:
        """The names of all tensors, in alphabetical order."""
        return sorted(self._file)

    def offset_keys(self) -> list[str]:
        """The names of all tensors, in the order of the file."""
        return list(self._file)

    def metadata(self) -> dict[str, Any] | None:
        """The metadata of the file."""
        found = self._file.metadata
        is_given = found or "safetensors:metadata" in self._file._open().hints
        return found if is_given else None

    def get_tensor(self, name: str) -> Any:
        """All values of one tensor."""
        _text(name, "name")
        if self._target.framework == "torch":
            return self._target.moved(self._file[name].torch())
        return self._target.made(self._array(name))

    def _array(self, name: str) -> Any:
        """An array with its own memory; labels are included."""
        try:
            found = self._file.array(name)
        except InvalidRequest:
            if self._file[name].storage == "labelled":
                return self._file[name].labelled()
            raise
        if found.nbytes <= _SMALL:
            return found.copy(order="K")
        tensor = self._file[name]
        may_be_view = tensor.storage == "opaque" or tensor._core.as_view() is not None
        return tensor.numpy(copy=True) if may_be_view else found

    def get_tensors(self) -> dict[str, Any]:
        """All values of every tensor, by name."""
        return {name: self.get_tensor(name) for name in self._file}

    def get_slice(self, name: str) -> Slice:
        """A tensor for indexing: only the requested part is read."""
        return Slice(self._file[_text(name, "name")], self._target, self._is_mapped)

    def __enter__(self) -> SafeOpen:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()


def _safe_open_handle(
    f: Any, framework: str, device: Any = "cpu", *, backend: str = "mmap"
) -> SafeOpen:
    """As `safe_open`, for an open file: by its path if it has one, otherwise by reading it."""
    name = getattr(f, "name", None) if hasattr(f, "fileno") else None
    is_path = isinstance(name, (str, os.PathLike))
    return SafeOpen(name if is_path else f, framework, device, backend=backend)
