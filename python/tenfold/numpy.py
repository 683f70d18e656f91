"""What `safetensors.numpy` offers, for files of every format.

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

from ._drop_in import SafeOpen, target_format
from ._file import load as load_any
from ._save import dumps
from ._save import save as save_any

Array = npt.NDArray[Any]


def load_file(filename: Any) -> dict[str, Array]:
    """All tensors of a file, as arrays of their own."""
    return load_any(filename)


def load(data: bytes) -> dict[str, Array]:
    """All tensors of a file whose bytes are given."""
    return load_any(data)


def save_file(
    tensor_dict: Mapping[str, Array], filename: Any, metadata: Mapping[str, str] | None = None
) -> None:
    """Saves arrays by name: as safetensors, unless the ending of the file says another format."""
    save_any(filename, dict(tensor_dict), metadata=metadata, format=target_format(filename))


def save(tensor_dict: Mapping[str, Array], metadata: Mapping[str, str] | None = None) -> bytes:
    """The bytes of a safetensors file with these arrays."""
    return dumps(dict(tensor_dict), format="safetensors", metadata=metadata)


class safe_open(SafeOpen):
    """An open file, as `safetensors.safe_open(..., framework="numpy")` gives it."""

    def __init__(self, filename: Any, framework: str = "numpy", device: Any = "cpu") -> None:
        super().__init__(filename, framework, device)


__all__ = ["load", "load_file", "safe_open", "save", "save_file"]
