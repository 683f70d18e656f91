"""The API of `safetensors.numpy`, for files of every format.

>>> import numpy as np, tempfile, os
>>> from tenfold.numpy import load_file, save_file
>>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
>>> save_file({"w": np.ones(2)}, path)
>>> load_file(path)
{'w': array([1., 1.])}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from ._drop_in import SafeOpen, named, open_bytes, texts, write
from ._file import load as load_any
from ._save import dumps

Array = npt.NDArray[Any]


def load_file(filename: Any, *, backend: str = "mmap") -> dict[str, Array]:
    """All tensors of a file, as arrays with their own memory."""
    with safe_open(filename, backend=backend) as file:
        return file.get_tensors()


def load(data: bytes) -> dict[str, Array]:
    """All tensors of a safetensors file given as bytes."""
    with open_bytes(data) as file:
        return load_any(file)


def save_file(
    tensor_dict: Mapping[str, Array], filename: Any, metadata: Mapping[str, str] | None = None
) -> None:
    """Saves arrays by name: as safetensors, unless the extension is that of another format."""
    write(tensor_dict, filename, metadata)


def save(tensor_dict: Mapping[str, Array], metadata: Mapping[str, str] | None = None) -> bytes:
    """The bytes of a safetensors file with these arrays."""
    return dumps(named(tensor_dict), format="safetensors", metadata=texts(metadata))


class safe_open(SafeOpen):
    """An open file, as returned by `safetensors.safe_open(..., framework="numpy")`."""

    def __init__(
        self, filename: Any, framework: str = "numpy", device: Any = "cpu", *, backend: str = "mmap"
    ) -> None:
        super().__init__(filename, framework, device, backend=backend)


__all__ = ["load", "load_file", "safe_open", "save", "save_file"]
