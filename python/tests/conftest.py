"""What the tests share: the corpus, and arrays of every type."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

CORPUS = Path(__file__).parents[2] / "corpus"


@pytest.fixture
def corpus() -> Path:
    return CORPUS


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


@pytest.fixture(params=["auto", "mmap", "read"])
def io(request: pytest.FixtureRequest) -> str:
    return request.param
