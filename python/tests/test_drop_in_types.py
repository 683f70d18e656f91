"""Arguments of the wrong type, and what is no file, as safetensors answers them."""

from __future__ import annotations

import struct
import sys
import types

import numpy as np
import pytest
import safetensors
import safetensors.numpy
import tenfold
import tenfold.numpy

SPEC = {"dtype": "float32", "shape": [2], "data_ptr": 1 << 40, "data_len": 8}


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "a.safetensors"
    safetensors.numpy.save_file({"a": np.arange(3), "b": np.ones((2, 3), "f4")}, found)
    return found


def raised(call, *given):
    with pytest.raises(Exception) as caught:
        call(*given)
    return caught.value


def opened(module, path, **how):
    return module.safe_open(path, **{"framework": "np", **how})


REQUESTS = {
    "framework none": lambda module, path: opened(module, path, framework=None),
    "framework number": lambda module, path: opened(module, path, framework=3),
    "framework bytes": lambda module, path: opened(module, path, framework=b"np"),
    "backend none": lambda module, path: opened(module, path, backend=None),
    "backend number": lambda module, path: module.numpy.load_file(path, backend=3),
    "tensor number": lambda module, path: opened(module, path).get_tensor(3),
    "tensor bytes": lambda module, path: opened(module, path).get_tensor(b"a"),
    "slice none": lambda module, path: opened(module, path).get_slice(None),
    "path bytes": lambda module, path: module.numpy.load_file(str(path).encode()),
    "content": lambda module, path: module.numpy.load_file(path.read_bytes()),
    "bytearray": lambda module, path: module.numpy.load_file(bytearray(path.read_bytes())),
    "number": lambda module, path: opened(module, 3),
    "metadata list": lambda module, path: module.numpy.save({}, []),
    "metadata text": lambda module, path: module.numpy.save_file({}, path, "ab"),
    "metadata number": lambda module, path: module.serialize({}, 3),
    "metadata value": lambda module, path: module.numpy.save({}, {"a": 1}),
    "specs list": lambda module, path: module.serialize([]),
    "specs none": lambda module, path: module.serialize_file(None, path),
    "load text": lambda module, path: module.numpy.load("none"),
    "load none": lambda module, path: module.numpy.load(None),
    "device far": lambda module, path: opened(module, path, framework="pt", device=1 << 70),
    **{
        f"spec {name}={value!r}": lambda module, path, name=name, value=value: module.TensorSpec(
            **{**SPEC, name: value}
        )
        for name, value in [
            ("shape", [-3]), ("shape", [2.0]), ("shape", "ab"), ("shape", None), ("shape", [1 << 70]),
            ("dtype", 3), ("dtype", "none"), ("data_ptr", -1), ("data_ptr", "a"), ("data_ptr", 1 << 70),
            ("data_len", -1), ("data_len", 8.0), ("data_len", 1 << 70),
        ]
    },
}  # fmt: skip


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
def test_wrong_types_are_answered_alike(path, request_):
    expected, found = (raised(request_, module, path) for module in (safetensors, tenfold))
    kinds = (safetensors.SafetensorError, TypeError, OverflowError)
    kind = next(kind for kind in kinds if isinstance(expected, kind))
    ours = tenfold.SafetensorError if kind is safetensors.SafetensorError else kind
    assert isinstance(found, ours), (expected, found)


@pytest.mark.parametrize("data", [b"tensor(x[2]):[1,2]", b"[]", b"", b"\x93NUMPY\x01\0"])
def test_bytes_are_those_of_safetensors_alone(data):
    for load in (safetensors.numpy.load, tenfold.numpy.load, tenfold.deserialize):
        with pytest.raises((safetensors.SafetensorError, tenfold.SafetensorError)):
            load(data)
    array = tenfold.dumps(np.ones(2), format="npy")
    with pytest.raises(tenfold.MalformedFile, match="safetensors"):
        tenfold.numpy.load(array)


@pytest.mark.parametrize("framework", ["pt", "paddle"])
def test_a_framework_that_is_not_there_is_missed_when_a_file_is_opened(path, monkeypatch, framework):
    monkeypatch.setitem(sys.modules, {"pt": "torch"}.get(framework, framework), None)
    for module in (safetensors, tenfold):
        with pytest.raises(ImportError):
            module.safe_open(path, framework)
        with pytest.raises(FileNotFoundError):
            module.safe_open(path.with_name("none"), framework)


def test_types_that_numpy_lacks_are_refused_by_the_names_of_tensor_and_file(tmp_path):
    path = tmp_path / "small.safetensors"
    header = b'{"w":{"dtype":"F6_E2M3","shape":[4],"data_offsets":[0,3]}}'
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(3))
    for read in [
        lambda: tenfold.numpy.load_file(path),
        lambda: tenfold.safe_open(path, "np").get_tensor("w"),
        lambda: tenfold.safe_open(path, "np").get_slice("w")[:],
        lambda: tenfold.open(path)["w"].numpy(),
    ]:
        with pytest.raises(tenfold.SafetensorError, match="F6_E2M3") as caught:
            read()
        assert f"{path}: w: " in str(caught.value)


def test_quantized_torch_tensors_are_refused_by_name(monkeypatch):
    class Quantized:
        __module__ = "torch"
        dtype = "torch.quint8"

        def detach(self):
            return self

        cpu = detach

    monkeypatch.setitem(sys.modules, "torch", types.ModuleType("torch"))
    with pytest.raises(tenfold.InvalidRequest, match=r"torch.quint8: dequantize\(\)"):
        tenfold.dumps({"a": Quantized()}, format="safetensors")
