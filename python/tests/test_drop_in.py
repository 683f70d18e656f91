"""The modules that stand in for those of safetensors."""

from __future__ import annotations

import numpy as np
import pytest
import safetensors
import safetensors.numpy
import tenfold
import tenfold.numpy
from conftest import cells


@pytest.fixture
def arrays():
    return {"b": cells("<f4", (4, 6)), "a": cells("<i8", (3,)), "s": np.array(2.5)}


def test_the_same_calls_give_the_same(tmp_path, arrays):
    ours, theirs = tmp_path / "ours.safetensors", tmp_path / "theirs.safetensors"
    tenfold.numpy.save_file(arrays, ours, metadata={"k": "v"})
    safetensors.numpy.save_file(arrays, theirs, metadata={"k": "v"})
    for path in (ours, theirs):
        for load_file in (tenfold.numpy.load_file, safetensors.numpy.load_file):
            found = load_file(path)
            assert set(found) == set(arrays)
            for name, array in arrays.items():
                assert found[name].dtype == array.dtype and np.array_equal(found[name], array)
                assert found[name].shape == array.shape
    data = tenfold.numpy.save(arrays)
    assert np.array_equal(safetensors.numpy.load(data)["b"], arrays["b"])
    assert np.array_equal(tenfold.numpy.load(safetensors.numpy.save(arrays))["a"], arrays["a"])


def test_safe_open_has_the_same_methods(tmp_path, arrays):
    path = tmp_path / "a.safetensors"
    safetensors.numpy.save_file(arrays, path, metadata={"k": "v"})
    opened = safetensors.safe_open(path, framework="np"), tenfold.numpy.safe_open(path, framework="np")
    with opened[0] as theirs, opened[1] as ours:
        assert set(ours.keys()) == set(theirs.keys())
        assert ours.metadata() == theirs.metadata()
        for name in arrays:
            assert np.array_equal(ours.get_tensor(name), theirs.get_tensor(name))
        one, other = ours.get_slice("b"), theirs.get_slice("b")
        assert one.get_shape() == other.get_shape() and one.get_dtype() == other.get_dtype()
        for index in [np.s_[:2], np.s_[1:3, ::1], np.s_[:, 2:4], np.s_[...]]:
            assert np.array_equal(one[index], other[index])
    with pytest.raises(tenfold.InvalidRequest, match="framework"):
        tenfold.numpy.safe_open(path, framework="none")
    with pytest.raises(tenfold.InvalidRequest, match="device"):
        tenfold.numpy.safe_open(path, device="cuda:0")


def test_the_ending_of_a_file_says_its_format(tmp_path, arrays):
    tenfold.numpy.save_file(arrays, tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as loaded:
        assert np.array_equal(loaded["b"], arrays["b"])
    tenfold.numpy.save_file(arrays, str(tmp_path / "no_ending"))
    assert tenfold.open(tmp_path / "no_ending").format == "safetensors"


torch = pytest.importorskip  # PyTorch is asked for where it is needed.


def test_torch_tensors_come_and_go(tmp_path):
    pytorch = torch("torch")
    import tenfold.torch

    tensors = {
        "w": pytorch.arange(12, dtype=pytorch.float32).reshape(3, 4),
        "h": pytorch.arange(4).to(pytorch.bfloat16),
        "t": pytorch.arange(6.0).reshape(2, 3).T,
    }
    path = tmp_path / "a.safetensors"
    tenfold.torch.save_file(tensors, path)
    found = tenfold.torch.load_file(path)
    assert all(pytorch.equal(found[name], tensors[name]) for name in tensors)
    with tenfold.torch.safe_open(path) as file:
        assert pytorch.equal(file.get_slice("h")[1:3], tensors["h"][1:3])
        assert pytorch.equal(file.get_tensor("w"), tensors["w"])
