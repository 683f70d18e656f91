"""The API of `safetensors.torch`, for files of every format; bf16 needs no other package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._drop_in import SafeOpen, named, open_bytes, texts, write
from ._errors import SafetensorError
from ._save import dumps
from ._torch_storage import (
    _end_ptr,
    _find_shared_tensors,
    _is_complete,
    _remove_duplicate_names,
    storage_ptr,
    storage_size,
)


def load_file(filename: Any, device: Any = "cpu", *, backend: str = "mmap") -> dict[str, Any]:
    """All tensors of a file, on a device: views of a private map of it, or with `backend="pread"` read."""
    with safe_open(filename, device=device, backend=backend) as file:
        return file.get_tensors()


def load(data: bytes) -> dict[str, Any]:
    """All tensors of a safetensors file given as bytes."""
    with open_bytes(data) as file:
        return {name: tensor.torch() for name, tensor in file.items()}


def save_file(
    tensors: dict[str, Any], filename: Any, metadata: Mapping[str, str] | None = None
) -> None:
    """Saves tensors by name: as safetensors, unless the ending of the file says another format.

    Sparse and non-contiguous tensors are refused with `ValueError`, those that share memory with
    `RuntimeError`: see `save_model`.
    """
    write(_checked(tensors), filename, metadata)


def save(tensors: dict[str, Any], metadata: Mapping[str, str] | None = None) -> bytes:
    """The bytes of a safetensors file with these tensors; refuses what `save_file` refuses."""
    return dumps(named(_checked(tensors)), format="safetensors", metadata=texts(metadata))


def _checked(tensors: Any) -> dict[str, Any]:
    """Tensors by name, if a file can restore them as they are: dense, contiguous, not sharing memory."""
    import torch

    if not isinstance(tensors, dict):
        raise ValueError(f"Expected a dict of [str, torch.Tensor] but received {type(tensors)}")
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            what = f"expected torch.Tensor but received {type(tensor)}"
            raise ValueError(f"Key `{name}` is invalid, {what}")
    sparse = [name for name, tensor in tensors.items() if tensor.layout != torch.strided]
    if sparse:
        raise ValueError(
            f"You are trying to save a sparse tensors: `{sparse}` which this library does not support."
            " You can make it a dense tensor before saving with `.to_dense()` but be aware this might"
            " make a much larger file than needed."
        )
    shared = [group for group in _find_shared_tensors(tensors) if len(group) > 1]
    if shared:
        listed = "; ".join(", ".join(map(repr, sorted(group))) for group in shared)
        raise RuntimeError(
            f"these tensors share memory, which a file would hold twice: {listed}."
            " save_model keeps one name of each, .clone() makes them independent."
        )
    for name, tensor in tensors.items():
        if not tensor.is_contiguous():
            raise ValueError(f"the tensor {name!r} is not contiguous: .contiguous() makes a copy that is.")
    return tensors


def save_model(
    model: Any,
    filename: Any,
    metadata: Mapping[str, str] | None = None,
    force_contiguous: bool = True,
) -> None:
    """Saves the parameters and buffers of a `torch.nn.Module`.

    Of those that share memory one is saved; `metadata` says for each other name which. Unless
    `force_contiguous` is set, what is not contiguous is refused.
    """
    state = model.state_dict()
    described = texts(metadata) or {}
    for kept, names in _remove_duplicate_names(state).items():
        for name in names:
            described.setdefault(name, kept)
            del state[name]
    if force_contiguous:
        state = {name: tensor.contiguous() for name, tensor in state.items()}
    try:
        save_file(state, filename, metadata=described or metadata)
    except ValueError as error:
        if force_contiguous or isinstance(error, SafetensorError):
            raise
        raise ValueError(f"{error} Or use save_model(..., force_contiguous=True).") from error


def load_model(
    model: Any, filename: Any, strict: bool = True, device: Any = "cpu", *, backend: str = "mmap"
) -> tuple[set[str], list[str]]:
    """Loads a file into a `torch.nn.Module`: gives the names that it lacks, and those that are left over.

    A name that shares memory with one that the file has is not missing. If `strict` is set, either
    kind of name is a `RuntimeError`.
    """
    state = load_file(filename, device=device, backend=backend)
    duplicates = _remove_duplicate_names(model.state_dict(), preferred_names=list(state))
    lacking, left_over = model.load_state_dict(state, strict=False)
    missing, unexpected = set(lacking), list(left_over)
    for name in (name for names in duplicates.values() for name in names):
        if name in missing:
            missing.remove(name)
        else:
            unexpected.append(name)
    if strict and (missing or unexpected):
        lines = [f"Error(s) in loading state_dict for {type(model).__name__}:"]
        for what, names in (("Missing", missing), ("Unexpected", unexpected)):
            if names:
                listed = ", ".join(f'"{name}"' for name in sorted(names))
                lines.append(f"    {what} key(s) in state_dict: {listed}")
        raise RuntimeError("\n".join(lines))
    return missing, unexpected


class safe_open(SafeOpen):
    """An open file, as returned by `safetensors.safe_open(..., framework="pt")`."""

    def __init__(
        self, filename: Any, framework: str = "pt", device: Any = "cpu", *, backend: str = "mmap"
    ) -> None:
        super().__init__(filename, framework, device, backend=backend)


__all__ = [
    "_end_ptr",
    "_find_shared_tensors",
    "_is_complete",
    "_remove_duplicate_names",
    "load",
    "load_file",
    "load_model",
    "safe_open",
    "save",
    "save_file",
    "save_model",
    "storage_ptr",
    "storage_size",
]
