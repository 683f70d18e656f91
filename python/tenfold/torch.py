"""What `safetensors.torch` offers, for files of every format; bf16 needs no other package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._drop_in import SafeOpen, target_format
from ._file import open as open_file
from ._save import dumps
from ._save import save as save_any


def _loaded(origin: Any, device: Any, io: Any) -> dict[str, Any]:
    device = None if device in (None, "cpu") else device
    with open_file(origin, io=io) as file:
        return {name: tensor.torch(device) for name, tensor in file.items()}


def load_file(filename: Any, device: Any = "cpu") -> dict[str, Any]:
    """All tensors of a file, on a device."""
    return _loaded(filename, device, "read")


def load(data: bytes) -> dict[str, Any]:
    """All tensors of a file whose bytes are given."""
    return _loaded(data, None, "read")


def save_file(
    tensors: Mapping[str, Any], filename: Any, metadata: Mapping[str, str] | None = None
) -> None:
    """Saves tensors by name: as safetensors, unless the ending of the file says another format."""
    save_any(filename, dict(tensors), metadata=metadata, format=target_format(filename))


def save(tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None) -> bytes:
    """The bytes of a safetensors file with these tensors."""
    return dumps(dict(tensors), format="safetensors", metadata=metadata)


class safe_open(SafeOpen):
    """An open file, as `safetensors.safe_open(..., framework="pt")` gives it."""

    def __init__(self, filename: Any, framework: str = "pt", device: Any = "cpu") -> None:
        super().__init__(filename, framework, device)


__all__ = ["load", "load_file", "safe_open", "save", "save_file"]
