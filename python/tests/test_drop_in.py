"""The modules that stand in for those of safetensors."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest
import safetensors
import safetensors.numpy
import tenfold
import tenfold.numpy
from samples import cells


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


class StandInTensor:
    """As much of a tensor of PyTorch as the package asks for."""

    __module__ = "torch"

    def __init__(self, bits: np.ndarray, dtype: str, device: object = None) -> None:
        self.bits, self.dtype, self.device = bits, dtype, device
        self.shape = bits.shape

    def detach(self):
        return self

    cpu = contiguous = resolve_conj = resolve_neg = detach

    def view(self, dtype: str):
        return StandInTensor(self.bits, dtype, self.device)

    def to(self, device: object):
        return StandInTensor(self.bits, self.dtype, device)

    def numpy(self) -> np.ndarray:
        assert self.dtype not in ("torch.bfloat16", "torch.float8_e5m2"), "NumPy has no such type"
        return self.bits


@pytest.fixture
def stand_in(monkeypatch):
    """A module that stands in for PyTorch, which is a very large download."""
    module = types.ModuleType("torch")
    for name in ("bfloat16", "int16", "uint8", "float8_e5m2"):
        setattr(module, name, f"torch.{name}")
    module.from_numpy = lambda array: StandInTensor(array, f"torch.{array.dtype.name}")
    monkeypatch.setitem(sys.modules, "torch", module)
    # Numbers that NumPy has no word for need no package but PyTorch.
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)


def test_torch_gets_bits_that_numpy_has_no_word_for(tmp_path, stand_in):
    import tenfold.torch

    bits = cells("<i2", (3, 4))
    tensors = {
        "h": StandInTensor(bits, "torch.bfloat16"),
        "e": StandInTensor(bits.astype("u1"), "torch.float8_e5m2"),
        "w": StandInTensor(cells("<f4", (2, 3)), "torch.float32"),
    }
    path = tmp_path / "a.safetensors"
    tenfold.torch.save_file(tensors, path, metadata={"k": "v"})
    assert {name: tensor.element for name, tensor in tenfold.open(path).items()} == {
        "h": "bf16", "e": "F8_E5M2", "w": "f32",
    }  # fmt: skip
    for found in (tenfold.torch.load_file(path, device="cuda:0"), tenfold.torch.load(path.read_bytes())):
        for name, tensor in tensors.items():
            assert found[name].dtype == tensor.dtype
            assert np.array_equal(found[name].bits, tensor.bits)
    with tenfold.torch.safe_open(path, framework="pt", device="cuda:1") as file:
        part = file.get_slice("h")[1:, ::2]
        assert (part.dtype, part.device) == ("torch.bfloat16", "cuda:1")
        assert np.array_equal(part.bits, bits[1:, ::2])
        assert file.get_tensor("w").device == "cuda:1" and file.metadata() == {"k": "v"}


def test_torch_tensors_come_and_go(tmp_path):
    pytorch = pytest.importorskip("torch")
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
