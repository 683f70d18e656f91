"""Indices, by the rules of NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import tenfold
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

ARRAY = np.arange(4 * 5 * 6).reshape(4, 5, 6)


def files() -> list[tenfold.Tensor]:
    """The same tensor as every kind of storage that can be indexed."""
    kinds = []
    for order in "CF":
        kinds.append(tenfold.dumps(np.asarray(ARRAY, order=order), format="npy"))
        kinds.append(tenfold.dumps(np.asarray(ARRAY.astype(">i8"), order=order), format="npy"))
    kinds.append(tenfold.dumps({"a": ARRAY}, format="ztensor", compress=True))
    kinds.append(tenfold.dumps({"a": ARRAY}, format="npz", compress=True))
    return [tenfold.open(data).only for data in kinds]


TENSORS = files()

INDICES = [
    np.s_[0], np.s_[-1], np.s_[1, 2, 3], np.s_[1, -1], np.s_[:], np.s_[...], np.s_[()],
    np.s_[:, :2], np.s_[..., ::-2], np.s_[::3, 1:4:2, ::-1], np.s_[-2:], np.s_[5:], np.s_[3:1],
    np.s_[None], np.s_[:, None, 1], np.s_[..., None], np.s_[0, ..., 0], np.s_[:100, -100:],
    np.s_[[1, 3]], np.s_[[3, 1, 1]], np.s_[:, [0, 4]], np.s_[..., [-1, 0]], np.s_[[]],
    np.s_[:, np.array([[0, 1], [2, 3]])], np.s_[0, [1, 2]], np.s_[0, :, [1, 2]], np.s_[[1, 2], :, 0],
    np.s_[np.array([True, False, True, True])], np.s_[:, [True, False, True, False, True]],
    np.s_[ARRAY % 2 == 0], np.s_[:, ARRAY[0] % 3 == 0], np.s_[None, [2, 0], 1:3],
    np.s_[np.int64(2)], np.s_[np.array(1)], np.s_[1, None, [0, 2], ::-1],
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=repr)
@pytest.mark.parametrize("tensor", TENSORS, ids=range(len(TENSORS)))
def test_an_index_takes_what_numpy_would(tensor, index):
    wanted = ARRAY[index]
    found = tensor[index]
    assert np.shape(found) == np.shape(wanted)
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize(
    "index",
    [np.s_[4], np.s_[-5], np.s_[0, 0, 0, 0], np.s_["x"], np.s_[..., ...], np.s_[[9]], np.s_[1.5],
     np.s_[[True, False]]],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("tensor", TENSORS[:2])
def test_what_numpy_refuses_is_refused(tensor, index):
    with pytest.raises(IndexError):
        ARRAY[index]
    with pytest.raises(IndexError):
        tensor[index]


@settings(max_examples=200, deadline=None)
@given(hnp.basic_indices(ARRAY.shape, allow_newaxis=True, allow_ellipsis=True), st.integers(0, 5))
def test_any_basic_index_takes_what_numpy_would(index, which):
    assert np.array_equal(TENSORS[which][index], ARRAY[index])


def test_a_tensor_is_iterated_along_its_first_dimension():
    assert [row.tolist() for row in TENSORS[0]] == ARRAY.tolist()
    assert len(TENSORS[0]) == 4
    with pytest.raises(TypeError):
        len(tenfold.open(tenfold.dumps(np.float64(1), format="npy")).only)


def test_a_slice_of_a_compressed_file_reads_little(tmp_path):
    """Of a column-major or plain file nothing beyond the slice is touched."""
    array = np.arange(10**6, dtype="<u4").reshape(1000, 1000)
    path = tmp_path / "a.npy"
    np.save(path, array)
    tensor = tenfold.open(path, io="read").only
    with path.open("r+b") as file:
        file.truncate(128 + 4 * 1000 * 10)
    assert np.array_equal(tensor[3:5, ::7], array[3:5, ::7])
    with pytest.raises(tenfold.MalformedFile, match="shorter"):
        tensor[999]
