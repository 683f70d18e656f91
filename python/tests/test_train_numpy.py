"""NumPy's functions on trains: computed on the train, or refused with the method to call."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import tenfold

FIELD = 1 / (1 + np.add.outer(np.add.outer(np.arange(4.0), np.arange(5.0)), np.arange(3.0)))


@pytest.fixture(scope="module")
def train():
    return tenfold.compress(FIELD, eps=1e-12)


COMPUTED = {
    "norm": lambda x: np.linalg.norm(x),
    "norm axis none": lambda x: np.linalg.norm(x, axis=None, keepdims=True),
    "sum": lambda x: np.sum(x),
    "sum kept": lambda x: np.sum(x, keepdims=True),
    "sum axis kept": lambda x: np.sum(x, axis=1, keepdims=True),
    "sum method kept": lambda x: x.sum(axis=(0, -1), keepdims=True),
    "sum dtype": lambda x: np.sum(x, dtype="f8"),
    "mean": lambda x: np.mean(x, 0),
    "mean kept": lambda x: np.mean(x, axis=(0, 2), keepdims=True),
    "mean all kept": lambda x: x.mean(keepdims=True),
    "reshape": lambda x: np.reshape(x, shape=(20, 3)),
    "transpose": lambda x: np.transpose(x, axes=(1, 0, 2)),
    "size": lambda x: np.size(x),
    "plus": lambda x: +x,
    "positive": lambda x: np.positive(x),
}


@pytest.mark.parametrize("compute", COMPUTED.values(), ids=COMPUTED)
def test_what_is_computed_is_what_numpy_computes(train, compute):
    found, wanted = compute(train), compute(FIELD)
    assert np.shape(found) == np.shape(wanted) and np.allclose(np.asarray(found), wanted)
    assert not np.ndim(found) or np.asarray(found).size <= 1 or isinstance(found, tenfold.TensorTrain)


def test_the_frobenius_norm_is_that_of_all_cells(train):
    assert np.isclose(np.linalg.norm(train, ord="fro"), np.linalg.norm(FIELD))


REFUSED = {
    "norm axis": (lambda x: np.linalg.norm(x, axis=0), r"norm\(\)"),
    "norm order": (lambda x: np.linalg.norm(x, 1), r"norm\(\)"),
    "sum where": (lambda x: np.sum(x, where=FIELD > 0), r"sum\(axis"),
    "sum dtype": (lambda x: np.sum(x, dtype="f4"), r"sum\(axis"),
    "mean out": (lambda x: np.mean(x, out=np.zeros(())), r"mean\(axis"),
    "reshape order": (lambda x: np.reshape(x, (20, 3), order="F"), r"reshape\(shape\)"),
    "vdot": (lambda x: np.vdot(x, FIELD), r"dot\(other\)"),
    "at": (lambda x: FIELD @ x, r"dot\(\)"),
    "einsum": (lambda x: np.einsum("ijk->", x), r"sum\(\)"),
    "append": (lambda x: np.append(x, x), r"append\(\)"),
    "reduce": (lambda x: np.add.reduce(x), r"sum\(\)"),
    "sine": (np.sin, r"full\(\)"),
}


@pytest.mark.parametrize(("compute", "method"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_names_the_method(train, compute, method):
    with pytest.raises(TypeError, match=f"would expand the train: .*{method}") as caught:
        compute(train)
    assert "positional argument" not in str(caught.value)


def test_what_cannot_be_appended_is_said_with_the_shapes(train):
    other = tenfold.compress(np.ones((4, 4, 3)))
    with pytest.raises(tenfold.InvalidRequest, match=r"axis 0: .* \(4, 5, 3\) and \(4, 4, 3\) differ"):
        train.append(other)
    with pytest.raises(tenfold.InvalidRequest, match="differ"):
        train.append(tenfold.compress(np.ones((4, 5))))
    for axis in (None, (0, 1), ()):
        with pytest.raises(tenfold.InvalidRequest, match="along one dimension"):
            train.append(train, axis=axis)
    assert train.append(other, axis=1).shape == (4, 9, 3)


def test_a_mean_in_range_is_had_where_the_sum_is_not():
    sizes = [100, 1000, 10]
    cores = [np.full((1, size, 1), 1e306 if size == 100 else 1.0) for size in sizes]
    train = tenfold.TensorTrain.from_cores(cores)
    assert np.isclose(train.mean(), 1e306, rtol=1e-12)
    assert np.allclose(train.mean(axis=(0, 1)).full(), 1e306, rtol=1e-12)
    assert train.mean(keepdims=True).shape == (1, 1, 1)
    assert np.isclose((train * 1j).mean(), 1e306j, rtol=1e-12)
    # Cells that no double counts.
    assert tenfold.TensorTrain.from_cores([np.ones((1, 2, 1))] * 1100).mean() == 1.0


def test_trains_are_copied_and_pickled(train):
    for again in (copy.copy(train), copy.deepcopy(train), pickle.loads(pickle.dumps(+train))):
        assert np.array_equal(again.full(), train.full()) and again.error == train.error
