"""What the modules that stand in for those of safetensors share."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any

from ._errors import InvalidRequest
from ._file import open as open_file
from ._save import _format_named
from ._tensor import Tensor

_NUMPY = ("np", "numpy")
_TORCH = ("pt", "torch", "pytorch")


def target_format(filename: Any) -> str:
    """Which format a file is saved as: safetensors where its ending says none."""
    return _format_named(os.fspath(filename), None) or "safetensors"


class Slice:
    """A tensor that is read where it is indexed."""

    def __init__(self, tensor: Tensor, is_torch: bool, device: Any) -> None:
        self._tensor = tensor
        self._is_torch = is_torch
        self._device = device

    def get_shape(self) -> list[int]:
        """The sizes of its dimensions."""
        return list(self._tensor.shape)

    def get_dtype(self) -> str:
        """The element type, in the words of safetensors: `F32`, `BF16`."""
        return self._tensor.element.upper()

    def __getitem__(self, index: Any) -> Any:
        if not self._is_torch:
            return self._tensor[index]
        part = self._tensor._torch_part(index)
        return part if self._device is None else part.to(self._device)


class SafeOpen:
    """An open file with the methods of `safetensors.safe_open`."""

    def __init__(self, filename: Any, framework: str, device: Any = "cpu") -> None:
        if framework not in _NUMPY + _TORCH:
            known = ", ".join(_NUMPY + _TORCH)
            raise InvalidRequest(f"no framework is called {framework!r}; these are: {known}")
        self._is_torch = framework in _TORCH
        self._device = None if device in (None, "cpu") else device
        if self._device is not None and not self._is_torch:
            raise InvalidRequest("NumPy knows no device but the cpu")
        self._file = open_file(filename)

    def keys(self) -> list[str]:
        """The names of all tensors."""
        return list(self._file)

    def offset_keys(self) -> list[str]:
        """The names of all tensors, in the order of the file."""
        return list(self._file)

    def metadata(self) -> dict[str, Any] | None:
        """What the file says about itself."""
        return self._file.metadata or None

    def get_tensor(self, name: str) -> Any:
        """All values of one tensor."""
        if not self._is_torch:
            return self._file.array(name)
        return self._file[name].torch(self._device)

    def get_slice(self, name: str) -> Slice:
        """A tensor to be indexed: only what is asked for is read."""
        return Slice(self._file[name], self._is_torch, self._device)

    def __enter__(self) -> SafeOpen:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
