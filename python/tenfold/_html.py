"""HTML representation of tensors in notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ._tensor import Tensor

_SIDE = 48
"""Most cells along a side of a heat map."""
_BINS = 32
_MOST = 64 << 20
"""Largest tensor in bytes with a picture: larger ones would take too long for a notebook."""


def page(tensor: Tensor) -> str:
    """A table of properties, and a small picture of the values."""
    rows = [
        ("type", tensor.element),
        ("shape", " × ".join("labels" if size is None else str(size) for size in tensor._core.shape)),
        ("dims", ", ".join(name or "–" for name in tensor.dims) if any(tensor.dims) else ""),
        ("storage", tensor.storage),
        ("bytes", f"{tensor.nbytes:,}"),
    ]
    cells = "".join(
        f"<tr><th style='text-align:left'>{name}</th><td>{html.escape(text)}</td></tr>"
        for name, text in rows
        if text
    )
    title = html.escape(tensor.key or "tensor")
    table = f"<table><caption><b>{title}</b></caption>{cells}</table>"
    return f"<div style='display:flex;gap:1em;align-items:center'>{table}{_picture(tensor)}</div>"


def _picture(tensor: Tensor) -> str:
    """A heat map of a matrix, otherwise a histogram; empty if it would take too long."""
    is_small = tensor.nbytes <= _MOST or tensor.storage == "dense" and tensor.ndim == 2
    if tensor.storage in ("labelled", "opaque") or not is_small or tensor.size == 0:
        return ""
    try:
        if tensor.ndim == 2 and min(tensor.shape) > 1:
            return _heat_map(_thinned(tensor))
        return _histogram(tensor)
    except (ValueError, TypeError, OSError):
        # A picture is optional: values that cannot be shown are omitted.
        return ""


def _thinned(tensor: Tensor) -> npt.NDArray[np.float64]:
    """A sample of a matrix, evenly spaced, as real numbers."""
    steps = tuple(slice(None, None, -(-size // _SIDE)) for size in tensor.shape)
    part: Any = np.asarray(tensor[steps])
    real: npt.NDArray[np.float64] = np.abs(part) if part.dtype.kind == "c" else part.astype("f8")
    return real


def _heat_map(cells: npt.NDArray[np.float64]) -> str:
    finite = cells[np.isfinite(cells)]
    if finite.size == 0:
        return ""
    low, high = float(finite.min()), float(finite.max())
    share = np.nan_to_num((cells - low) / ((high - low) or 1.0), nan=0.0, posinf=1.0, neginf=0.0)
    rows, columns = cells.shape
    size = 4
    drawn = "".join(
        f"<rect x='{column * size}' y='{row * size}' width='{size}' height='{size}' "
        f"fill='{_colour(float(share[row, column]))}'/>"
        for row in range(rows)
        for column in range(columns)
    )
    text = f"{low:.3g} … {high:.3g}"
    return _svg(columns * size, rows * size, drawn, text)


def _colour(share: float) -> str:
    """Dark blue over green to yellow."""
    stops = [(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)]
    place = min(max(share, 0.0), 1.0) * (len(stops) - 1)
    at = min(int(place), len(stops) - 2)
    mixed = (
        round(a + (b - a) * (place - at)) for a, b in zip(stops[at], stops[at + 1], strict=True)
    )
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _histogram(tensor: Tensor) -> str:
    from ._reports import stats

    found = stats(tensor, bins=_BINS)
    if not found.histogram:
        return ""
    highest = max(found.histogram)
    width, height = 6, 80
    drawn = "".join(
        f"<rect x='{at * width}' y='{height - count * height / highest:.1f}' width='{width - 1}' "
        f"height='{count * height / highest:.1f}' fill='#3b528b'/>"
        for at, count in enumerate(found.histogram)
    )
    text = f"{float(found.min):.3g} … {float(found.max):.3g}, mean {found.mean:.3g}"
    return _svg(_BINS * width, height, drawn, text)


def _svg(width: int, height: int, drawn: str, text: str) -> str:
    return (
        f"<figure style='margin:0'><svg width='{width}' height='{height}'>{drawn}</svg>"
        f"<figcaption style='font-size:small'>{html.escape(text)}</figcaption></figure>"
    )
