"""Where the corpus is, and arrays of every type."""

from __future__ import annotations

from pathlib import Path

import numpy as np

CORPUS = Path(__file__).parents[2] / "corpus"


def cells(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """An array in which no two neighbours are alike."""
    count = int(np.prod(shape))
    numbers = np.arange(count)
    if dtype == "?":
        return (numbers % 3 == 0).reshape(shape)
    if np.dtype(dtype).kind == "c":
        return (numbers - 1j * numbers[::-1]).astype(dtype).reshape(shape)
    return (numbers % 120).astype(dtype).reshape(shape)


PLAIN = ["?", "u1", "<u2", "<u4", "<u8", "i1", "<i2", "<i4", "<i8", "<f2", "<f4", "<f8", "<c8", "<c16"]
