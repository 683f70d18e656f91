"""Cells of sparse tensors that are given more than once."""

from __future__ import annotations

import numpy as np
import pytest
import tenfold

TWICE = b"%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n2 1 5\n1 1 2\n"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "twice.mtx"
    path.write_bytes(TWICE)
    return path


@pytest.mark.parametrize(
    "take",
    [
        lambda tensor: tensor.numpy(),
        lambda tensor: tensor.sparse(),
        lambda tensor: tensor[0],
        lambda tensor: tensor[0, :],
        lambda tensor: np.asarray(tensor),
    ],
)
def test_every_way_to_the_values_refuses_them_by_index(path, io, take):
    tensor = tenfold.open(path, io=io).only
    for _ in range(2):
        with pytest.raises(tenfold.MalformedFile, match=r"the cell \[0, 0\].* is given twice; duplicates=\"sum\""):
            take(tensor)


def test_loading_and_converting_refuse_them(path, tmp_path):
    for job in [
        lambda: tenfold.load(path),
        lambda: tenfold.read(path),
        lambda: tenfold.stats(path),
        lambda: tenfold.convert(path, tmp_path / "a.npy"),
    ]:
        with pytest.raises(tenfold.MalformedFile, match="is given twice"):
            job()
    assert not (tmp_path / "a.npy").exists()


@pytest.mark.parametrize(("rule", "first"), [("sum", 3.0), ("last", 2.0)])
def test_a_rule_resolves_them(path, tmp_path, rule, first):
    wanted = np.array([[first, 0.0], [5.0, 0.0]])
    tensor = tenfold.open(path, duplicates=rule).only
    assert np.array_equal(tensor.numpy(), wanted)
    tenfold.convert(path, tmp_path / "a.npy", duplicates=rule)
    assert np.array_equal(np.load(tmp_path / "a.npy"), wanted)


def test_scipy_adds_them_up_too(path):
    scipy_io = pytest.importorskip("scipy.io")
    matrix = scipy_io.mmread(path)
    tensor = tenfold.open(path, duplicates="sum").only
    assert np.array_equal(tensor.numpy(), matrix.toarray())
    assert np.array_equal(tensor.sparse().toarray(), matrix.toarray())


def test_a_rule_that_does_not_exist_is_refused(path):
    with pytest.raises(tenfold.InvalidRequest, match="by sum or last"):
        tenfold.open(path, duplicates="first")


def test_functions_of_files_take_the_rule_too(path):
    assert tenfold.stats(path, duplicates="sum").max == 5.0
    assert not tenfold.diff(path, path, duplicates="last")
    assert tenfold.compress(path, duplicates="sum").full()[0, 0] == pytest.approx(3.0)
