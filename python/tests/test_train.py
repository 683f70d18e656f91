"""Tensor trains."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import tenfold

I, J, K = np.ogrid[:12, :14, :16]
FIELD = 1 / (I + 2 * J + 3 * K + 1)


def multiplied(cores):
    found = np.ones((1, 1))
    for core in cores:
        found = np.einsum("...a,aib->...ib", found.reshape(*found.shape[:-1], -1), core)
    return found[0, ..., 0]


def test_a_file_is_compressed_by_its_path(tmp_path):
    i, j = np.ogrid[:20, :20]
    array = 1 / (i + j + 1)
    path = tmp_path / "x.npy"
    np.save(path, array)
    wanted = tenfold.compress(array, eps=1e-8)
    with tenfold.open(path) as file:
        for given in (path, str(path), path.read_bytes(), file, file.only):
            train = tenfold.compress(given, eps=1e-8)
            assert train.ranks == wanted.ranks and np.array_equal(train.full(), wanted.full())
    assert tenfold.compress(f"{path}:[:10]", eps=0).shape == (10, 20)
    np.savez(tmp_path / "two.npz", a=array, b=array)
    with pytest.raises(tenfold.InvalidRequest, match="2 tensors where one is wanted"):
        tenfold.compress(tmp_path / "two.npz")
    assert tenfold.compress(f"{tmp_path / 'two.npz'}:a", eps=0).shape == (20, 20)


@pytest.mark.parametrize("eps", [1e-2, 1e-6, 1e-10])
def test_a_train_is_as_near_as_it_says(eps):
    train = tenfold.compress(FIELD, eps=eps)
    apart = np.linalg.norm(train.full() - FIELD) / np.linalg.norm(FIELD)
    assert apart <= train.error <= eps
    assert train.shape == FIELD.shape and train.ranks[0] == train.ranks[-1] == 1
    assert np.allclose(multiplied(train.cores), train.full(), atol=1e-14)
    assert train.size == sum(core.size for core in train.cores)
    assert np.allclose(np.asarray(train), train.full())


def test_cells_come_by_the_rules_of_numpy():
    train = tenfold.compress(FIELD, eps=1e-9)
    full = train.full()
    assert np.isclose(train[1, 2, 3], full[1, 2, 3])
    for index in [np.s_[0], np.s_[:, 3], np.s_[..., ::-2], np.s_[2:4, None, [1, 3]]]:
        assert np.allclose(train[index], full[index])


def test_arithmetic_is_that_of_the_cells():
    one, two = tenfold.compress(FIELD, eps=1e-10), tenfold.compress(np.cos(FIELD), eps=1e-10)
    a, b = one.full(), two.full()
    for found, wanted in [
        (one + two, a + b), (one - two, a - b), (one * two, a * b), (one * 2, a * 2),
        (3 * one, a * 3), (-one, -a), (one / 4, a / 4),
    ]:  # fmt: skip
        assert np.allclose(found.full(), wanted)
    assert np.isclose(one.dot(two), (a * b).sum()) and np.isclose(one.norm(), np.linalg.norm(a))
    assert np.isclose(one.sum(), a.sum())
    small = (one + one).round(1e-8)
    assert small.ranks == one.ranks or max(small.ranks) <= max(one.ranks)
    assert small.error <= 1e-8 and np.allclose(small.full(), 2 * a)
    for found, wanted in [
        (one + 1, a + 1), (2.5 - one, 2.5 - a), (one - np.float64(3), a - 3), (np.float64(2) * one, 2 * a),
        (np.add(one, 1), a + 1), (one**2, a**2), (one**3, a**3), (np.negative(one), -a),
    ]:  # fmt: skip
        assert isinstance(found, tenfold.TensorTrain) and np.allclose(found.full(), wanted)
    with pytest.raises(TypeError):
        one + "1"
    with pytest.raises(TypeError, match="whole powers"):
        one**0.5


def test_sums_means_and_shapes_are_those_of_the_cells():
    train = tenfold.compress(FIELD, eps=1e-12)
    full = train.full()
    assert len(train) == 12 and [row.shape for row in train][0] == (14, 16)
    for axis in [0, -1, (0, 2), [1]]:
        over = tuple(axis) if isinstance(axis, list) else axis
        assert np.allclose(train.sum(axis).full(), full.sum(over))
        assert np.allclose(train.mean(axis=axis).full(), full.mean(over))
        assert np.allclose(np.sum(train, axis=axis).full(), full.sum(over))
    assert np.isclose(train.mean(), full.mean()) and np.isclose(train.sum((0, 1, 2)), full.sum())
    for found, wanted in [
        (train.T, full.T), (train.transpose(1, 0, 2), full.transpose(1, 0, 2)),
        (np.transpose(train, (2, 0, 1)), full.transpose(2, 0, 1)), (train.reshape(24, -1), full.reshape(24, -1)),
        (train.reshape((6, 2, 14, 16)), full.reshape(6, 2, 14, 16)), (train.append(train * 2), np.concatenate([full, 2 * full])),
        (train.append(train, axis=-1), np.concatenate([full, full], axis=-1)),
    ]:  # fmt: skip
        assert found.shape == wanted.shape and np.allclose(found.full(), wanted)
    small = train.qtt()
    assert small.shape == (3, 2, 2, 7, 2, 2, 2, 2, 2) and np.allclose(small.full().reshape(12, 14, 16), full)
    for wrong in [lambda: train.sum(3), lambda: train.sum((0, 0)), lambda: train.reshape(5, -1)]:
        with pytest.raises(tenfold.InvalidRequest):
            wrong()


def test_a_train_is_never_expanded_silently():
    train = tenfold.compress(FIELD, eps=1e-10)
    assert np.isclose(np.linalg.norm(train), np.linalg.norm(FIELD))
    assert np.isclose(np.vdot(train, train), (FIELD**2).sum())
    for wrong in [
        lambda: train @ train, lambda: FIELD @ train, lambda: np.matmul(train, train), lambda: np.einsum("ijk->i", train),
        lambda: np.sin(train), lambda: np.add(train, FIELD), lambda: np.dot(train, train), lambda: np.linalg.norm(train, axis=0),
    ]:  # fmt: skip
        with pytest.raises(TypeError, match="train"):
            wrong()
    with pytest.raises(TypeError, match=r"dot\(other\)"):
        train @ train
    assert np.allclose(np.asarray(train), FIELD)


@pytest.mark.parametrize("field", [FIELD, FIELD + 1j * FIELD])
def test_a_train_is_pickled(field):
    train = tenfold.compress(field, eps=1e-6)
    again = pickle.loads(pickle.dumps(train))
    assert all(np.array_equal(a, b) for a, b in zip(again.cores, train.cores, strict=True))
    assert again.error == train.error and again.report == train.report


def test_what_was_proven_is_saved_in_version_2(tmp_path):
    train = tenfold.compress(FIELD, eps=1e-6)
    train.save(tmp_path / "x.blz", version="2")
    assert (tmp_path / "x.blz").read_bytes()[:4] == b"BLZ2"
    file = tenfold.open(tmp_path / "x.blz")
    assert file.metadata["blz:relative_bound"] == train.error
    assert file.metadata["blz:relative_tolerance"] == 1e-6
    assert np.allclose(file.only.numpy(), FIELD, rtol=1e-4)


def test_complex_trains():
    train = tenfold.compress(FIELD + 1j * FIELD**2, eps=1e-10)
    assert train.dtype == np.complex128 and np.allclose(train.full(), FIELD + 1j * FIELD**2)
    assert np.isclose(train.sum(), train.full().sum())
    assert np.allclose((train * 1j).full(), train.full() * 1j)
    assert np.allclose((tenfold.compress(FIELD, eps=1e-10) * 1j).full(), FIELD * 1j)


def test_a_train_is_saved_and_read(tmp_path):
    train = tenfold.compress(FIELD, eps=1e-6)
    train.save(tmp_path / "x.blz")
    tensor = tenfold.open(tmp_path / "x.blz").only
    assert tensor.storage == "train" and tuple(tensor.ranks) == train.ranks
    assert np.array_equal(tensor.numpy(), train.full()) or np.allclose(tensor.numpy(), train.full())
    again = tensor.train()
    assert all(np.array_equal(a, b) for a, b in zip(again.cores, train.cores, strict=True))
    made = tenfold.TensorTrain.from_cores(train.cores)
    assert np.allclose(made.full(), train.full()) and made.error is None


def test_tensors_of_files_are_compressed(tmp_path):
    np.save(tmp_path / "a.npy", np.asfortranarray(FIELD))
    told = []
    train = tenfold.compress(
        tenfold.open(tmp_path / "a.npy").only, 1e-8, progress=lambda done, all: told.append(done)
    )
    assert np.allclose(train.full(), FIELD, rtol=1e-6) and told


def test_what_cannot_be_had_is_said():
    noise = np.random.default_rng(1).normal(size=(8, 8, 8))
    with pytest.raises(tenfold.RankLimitReached) as caught:
        tenfold.compress(noise, eps=1e-6, max_rank=2)
    assert caught.value.allowed == 2 < caught.value.needed and caught.value.reached > 0.1
    best = tenfold.compress(noise, eps=1e-6, max_rank=2, best_effort=True)
    assert max(best.ranks) == 2 and best.error > 0.1
    assert max(tenfold.compress(noise, eps=None, max_rank=3).ranks) == 3
    with pytest.raises(tenfold.InvalidRequest, match="one of eps"):
        tenfold.compress(noise, eps=None)
    noise[0, 0, 0] = np.nan
    with pytest.raises(tenfold.InvalidRequest, match="finite"):
        tenfold.compress(noise)


def test_a_core_that_no_memory_holds_is_an_error():
    train = tenfold.TensorTrain.from_cores([np.ones((1, 1000, 1))] * 8)
    with pytest.raises(tenfold.InvalidRequest, match="more than memory holds"):
        train.reshape(10**12, -1)


@pytest.mark.parametrize("shape", [(2, 3, 2, 1), (12, 1), (1, 2, 3, 2), (6, 2, 1, 1)])
def test_sizes_of_1_can_be_anywhere_in_a_shape(shape):
    cells = np.arange(12.0).reshape(2, 3, 2)
    train = tenfold.compress(cells, eps=1e-12).reshape(*shape)
    assert train.shape == shape
    assert np.allclose(train.full(), cells.reshape(shape))


def test_a_train_of_a_file_is_not_expanded_by_what_merely_computes(tmp_path):
    train = tenfold.compress(np.arange(12.0).reshape(2, 3, 2), eps=1e-12)
    tenfold.save(tmp_path / "t.blz", train)
    tensor = tenfold.open(tmp_path / "t.blz").only
    for compute in [
        lambda: np.linalg.norm(tensor),
        lambda: np.einsum("ijk->", tensor),
        lambda: np.sin(tensor),
        lambda: np.stack([tensor, tensor]),
        lambda: tensor @ np.ones(2),
        lambda: np.ones(2) @ tensor,
    ]:
        with pytest.raises(TypeError, match=r"would expand the train: train\(\) gives one"):
            compute()
    assert np.linalg.norm(tensor.train()) == pytest.approx(np.linalg.norm(np.arange(12.0)))
    assert np.asarray(tensor).shape == (2, 3, 2)


def test_a_tensor_of_cells_computes_as_an_array(tmp_path):
    array = np.arange(6.0).reshape(2, 3)
    np.save(tmp_path / "a.npy", array)
    tensor = tenfold.open(tmp_path / "a.npy").only
    assert np.linalg.norm(tensor) == np.linalg.norm(array)
    assert np.array_equal(tensor @ array.T, array @ array.T)
    assert np.array_equal(array.T @ tensor, array.T @ array)
    assert np.array_equal(np.add(tensor, 1), array + 1)
    assert np.array_equal(np.stack([tensor, array]), np.stack([array, array]))
