"""Every good file of the corpus, against what its sibling says: made from the specifications alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tenfold
from samples import CORPUS

FORMATS = sorted(path.parent.name for path in CORPUS.glob("*/good"))


def siblings(format: str) -> list[Path]:
    return sorted((CORPUS / format / "good").glob("*.json"))


def flat(data: Any) -> list[Any]:
    """The numbers of nested lists, in order."""
    if isinstance(data, list):
        return [number for part in data for number in flat(part)]
    return [data]


def numbers(array: np.ndarray) -> list[Any]:
    """The numbers of an array as the siblings spell them."""
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], axis=-1)
    if array.dtype.kind in "biu":
        return array.ravel().tolist()
    named = {np.inf: "Infinity", -np.inf: "-Infinity"}
    with np.errstate(invalid="ignore"):
        values = array.astype("f8").ravel().tolist()
    return ["NaN" if value != value else named.get(value, value) for value in values]


def rounded(said: list[Any], dtype: np.dtype) -> list[Any]:
    """Decimals as the numbers of a type that they spell."""
    part = np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype
    if part.kind in "biu":
        return said
    return [one if isinstance(one, str) else float(np.float64(one).astype(part)) for one in said]


@pytest.mark.parametrize("format", FORMATS)
def test_every_good_file_is_what_its_sibling_says(format):
    compared = 0
    for sibling in siblings(format):
        path = sibling.with_suffix("")
        if not path.is_file():
            continue
        said = json.loads(sibling.read_text())
        options = {name: str(value) for name, value in said.get("options", {}).items()}
        file = tenfold.open(path, format=format, lenient=said.get("lenient", False), options=options)
        shown = said["show"]
        assert file.format == shown["format"]
        tensors = shown.get("tensors", [])
        assert len(file) <= len(tensors)
        for place, wanted in enumerate(tensors):
            core = file._open().tensor(place)
            tensor = tenfold.Tensor(core)
            assert repr(tensor).startswith("<Tensor"), path
            assert isinstance(tensor.dtype, np.dtype), path
            assert list(core.shape) == wanted["shape"], path
            assert core.dims == tuple(dim["name"] for dim in wanted["dims"]), path
            has_numbers = wanted["storage"] == "dense" and "data" in wanted
            # NumPy refuses to have sizes beyond its own, also of what is empty.
            is_huge = np.prod([size or 1 for size in core.shape], dtype=float) > 2**60
            if not has_numbers or tensor.dtype.fields is not None or is_huge:
                continue
            assert core.dtype == wanted["dtype"], path
            found = numbers(tensor.numpy())
            assert found == rounded(flat(wanted["data"]), tensor.dtype), path
            assert numbers(np.asarray(tensor[...])) == found, path
            compared += 1
    # Trains, labels and lists of cells are compared elsewhere.
    assert compared > 10 or format in ("blz", "mtx", "tns", "vespa", "vespa-text", "vespa-feed")


@pytest.mark.parametrize("format", FORMATS)
def test_every_bad_file_is_refused(format):
    refused = 0
    for sibling in sorted((CORPUS / format / "bad").glob("*.json")):
        # What has no sibling, or is one, belongs to another file.
        path = sibling.with_suffix("")
        if not path.is_file():
            continue
        said = json.loads(sibling.read_text())
        options = {name: str(value) for name, value in said.get("options", {}).items()}
        with pytest.raises(tenfold.TenfoldError):
            file = tenfold.open(path, format=format, options=options, io="mmap")
            tenfold.verify(file)
        refused += 1
    assert refused >= 5
