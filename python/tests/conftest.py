"""What the tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples import CORPUS


@pytest.fixture
def corpus() -> Path:
    """The folder with small files of every format."""
    return CORPUS


@pytest.fixture(params=["auto", "mmap", "read"])
def io(request: pytest.FixtureRequest) -> str:
    """Every way in which values come out of a file."""
    return request.param
