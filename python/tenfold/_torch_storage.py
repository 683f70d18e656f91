"""Memory shared between PyTorch tensors; the names are those of safetensors, which other packages import."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def storage_ptr(tensor: Any) -> int:
    """The address of the memory behind a tensor; 0 if it has none."""
    try:
        return int(tensor.untyped_storage().data_ptr())
    except (NotImplementedError, RuntimeError):
        return 0


def storage_size(tensor: Any) -> int:
    """The size in bytes of the memory behind a tensor."""
    try:
        return int(tensor.untyped_storage().nbytes())
    except (NotImplementedError, RuntimeError):
        return int(tensor.nelement() * tensor.element_size())


def _end_ptr(tensor: Any) -> int:
    """The address after the last element."""
    start = int(tensor.data_ptr())
    if not tensor.nelement():
        return start
    pairs = zip(tensor.shape, tensor.stride(), strict=True)
    last = sum(int((size - 1) * stride) for size, stride in pairs)
    return start + (last + 1) * int(tensor.element_size())


def _is_complete(tensor: Any) -> bool:
    """Whether a tensor is all of its memory."""
    n_bytes = int(tensor.nelement() * tensor.element_size())
    return int(tensor.data_ptr()) == storage_ptr(tensor) and n_bytes == storage_size(tensor)


def _overlapping(names: Iterable[str], tensors: Mapping[str, Any]) -> list[set[str]]:
    """Groups of views of the same memory; disjoint views are in different groups."""
    groups: list[set[str]] = []
    end = 0
    areas = sorted((tensors[name].data_ptr(), _end_ptr(tensors[name]), name) for name in names)
    for start, stop, name in areas:
        if groups and start < end:
            groups[-1].add(name)
        else:
            groups.append({name})
        end = max(end, stop)
    return groups


def _find_shared_tensors(state_dict: Mapping[str, Any]) -> list[set[str]]:
    """The names in groups that share memory; others are in groups of their own."""
    views: dict[tuple[Any, int, int], list[str]] = {}
    for name, tensor in state_dict.items():
        address, size = storage_ptr(tensor), storage_size(tensor)
        if tensor.device.type != "meta" and address and size:
            views.setdefault((tensor.device, address, size), []).append(name)
    found: list[set[str]] = []
    for names in views.values():
        found += [set(names)] if len(names) == 1 else _overlapping(names, state_dict)
    return found


def _remove_duplicate_names(
    state_dict: Mapping[str, Any],
    *,
    preferred_names: Iterable[str] | None = None,
    discard_names: Iterable[str] | None = None,
) -> dict[str, list[str]]:
    """The names to omit, by the name that is kept for them.

    The kept tensor covers all of the memory. Among several, the first in alphabetical order is kept, rather one
    of `preferred_names`, rather none of `discard_names`.
    """
    preferred, discarded = set(preferred_names or ()), set(discard_names or ())
    to_remove: dict[str, list[str]] = {}
    for group in _find_shared_tensors(state_dict):
        complete = {name for name in group if _is_complete(state_dict[name])}
        if not complete:
            raise RuntimeError(
                f"none of {sorted(group)} is all of the memory that it is a view of, so that no name"
                " can stay for the others: .clone() makes them independent"
            )
        kept = min((complete & preferred) or (complete - discarded) or complete)
        others = sorted(group - {kept})
        if others:
            to_remove[kept] = others
    return to_remove
