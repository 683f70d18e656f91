"""The module that stands in for `safetensors.torch`, with PyTorch itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import safetensors.torch  # noqa: E402
import tenfold.torch  # noqa: E402

KINDS = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
         "float8_e4m3fn", "float8_e5m2", "uint16", "uint32", "uint64", "float4_e2m1fn_x2"]  # fmt: skip


@pytest.fixture
def tensors():
    """A tensor of every type, one without dimensions and one without elements."""
    bits = torch.arange(48, dtype=torch.uint8)
    found = {kind: bits.clone().view(getattr(torch, kind)).reshape(2, -1) for kind in KINDS if kind != "bool"}
    found["bool"] = bits.reshape(6, 8) % 3 == 0
    return {**found, "scalar": torch.tensor(2.5), "empty": torch.zeros(0, 3)}


def bits(tensor):
    return tensor.dtype, tuple(tensor.shape), tensor.contiguous().view(-1).view(torch.uint8).tolist()


def seen(tensors):
    return {name: bits(tensor) for name, tensor in tensors.items()}


@pytest.mark.parametrize("backend", ["mmap", "pread"])
def test_every_type_comes_and_goes(tmp_path, tensors, backend):
    path = tmp_path / "a.safetensors"
    tenfold.torch.save_file(tensors, path, {"k": "v"})
    assert path.read_bytes() == tenfold.torch.save(tensors, {"k": "v"}) == safetensors.torch.save(tensors, {"k": "v"})
    found = tenfold.torch.load_file(path, backend=backend)
    assert seen(found) == seen(tensors) == seen(tenfold.torch.load(path.read_bytes()))
    assert list(found) == list(safetensors.torch.load_file(path))
    with tenfold.safe_open(path, "pt", backend=backend) as file:
        assert seen(file.get_tensors()) == seen(tensors)
        assert all(bits(file.get_tensor(name)) == bits(tensor) for name, tensor in tensors.items())
        for name in ("bool", "bfloat16", "float8_e5m2", "complex64", "int64"):
            assert bits(file.get_slice(name)[1:, :2]) == bits(tensors[name][1:, :2])
    for tensor in found.values():
        # What the file holds may not change by it.
        tensor.zero_() if tensor.dtype != torch.float4_e2m1fn_x2 else None
    assert seen(tenfold.torch.load_file(path)) == seen(tensors)


def test_a_map_is_shared_and_indexed_as_pytorch_does(tmp_path, tensors):
    path = tmp_path / "a.safetensors"
    tenfold.torch.save_file(tensors, path)
    with tenfold.safe_open(path, "pt") as mapped, tenfold.safe_open(path, "pt", backend="pread") as read:
        assert mapped.get_tensor("float32").data_ptr() == mapped.get_tensor("float32").data_ptr()
        assert mapped.get_slice("float32")[1:].data_ptr() == mapped.get_tensor("float32")[1:].data_ptr()
        if Path("/proc/self/maps").exists():
            found = tenfold.torch.load_file(path)
            assert found and f"{path}\n" in Path("/proc/self/maps").read_text()
        assert read.get_tensor("float32").data_ptr() != read.get_tensor("float32").data_ptr()
        for index in (np.s_[:, -3:], np.s_[:20], [1, 0, 1], np.s_[..., None], torch.tensor([1])):
            assert torch.equal(mapped.get_slice("float32")[index], tensors["float32"][index])
        with pytest.raises(IndexError):
            mapped.get_slice("float32")[2]
        with pytest.raises(tenfold.SafetensorError, match="index 19 out of bounds"):
            read.get_slice("float32")[:20]


@pytest.mark.parametrize("backend", ["mmap", "pread"])
def test_bools_and_no_elements_are_indexed_as_pytorch_does(tmp_path, backend):
    path = tmp_path / "a.safetensors"
    given = {"bool": torch.tensor([[True, False, True], [False, True, True]]), "empty": torch.zeros(0, 4)}
    safetensors.torch.save_file(given, path)
    data = bytearray(path.read_bytes())
    # A byte of a file may be other than 1.
    data[data.index(b"\1\0\1\0\1\1")] = 2
    path.write_bytes(data)
    with tenfold.safe_open(path, "pt", backend=backend) as file:
        found = file.get_slice("bool")[:, :1]
        assert found.dtype == torch.bool and found.contiguous().view(torch.uint8).tolist() == [[1], [0]]
        if backend == "mmap":
            for name, index in [("empty", False), ("empty", np.s_[..., ...]), ("empty", None), ("bool", [1, 0]), ("bool", True)]:
                assert torch.equal(file.get_slice(name)[index], given[name][index])
            for name in given:
                with pytest.raises(ValueError, match="step"):
                    file.get_slice(name)[::-1]


@pytest.mark.parametrize("backend", ["mmap", "pread"])
def test_pairs_of_floats_are_indexed_as_their_bytes_are(tmp_path, tensors, backend):
    path = tmp_path / "a.safetensors"
    own = tensors["float4_e2m1fn_x2"]
    tenfold.torch.save_file({"a": own}, path)
    pairs = own.view(torch.uint8)
    with tenfold.safe_open(path, "pt", backend=backend) as file:
        for index in (-1, np.s_[:, -1], np.s_[1, 20:24], np.s_[:, 4:6]):
            assert torch.equal(file.get_slice("a")[index].view(torch.uint8), pairs[index])
        with pytest.raises((IndexError, tenfold.SafetensorError)):
            file.get_slice("a")[:, pairs.shape[1]]


@pytest.mark.parametrize("kind", ["complex32", "int4", "uint1", "bits8"])
def test_types_that_no_file_has_are_refused_by_name(kind):
    tensor = torch.zeros(2, dtype=torch.uint8 if kind != "complex32" else torch.int32).view(getattr(torch, kind))
    for save in (tenfold.torch.save, lambda given: tenfold.dumps(given, format="npz")):
        with pytest.raises(tenfold.InvalidRequest, match=f"torch.{kind}"):
            save({"a": tensor})
    with pytest.raises(tenfold.InvalidRequest, match="to_dense"):
        tenfold.dumps({"a": torch.ones(2).to_sparse()}, format="npz")


def test_the_environment_can_ask_torch_tensors_to_be_read(tmp_path, tensors, monkeypatch):
    path = tmp_path / "a.safetensors"
    tenfold.torch.save_file({"a": tensors["float32"]}, path)
    monkeypatch.setenv("TENFOLD_IO", "read")
    with tenfold.safe_open(path, "pt") as file:
        assert file.get_tensor("a").data_ptr() != file.get_tensor("a").data_ptr()
        assert torch.equal(file.get_slice("a")[:, 1:], tensors["float32"][:, 1:])
        found = tenfold.torch.load_file(path)
        path.write_bytes(b"")
        assert torch.equal(found["a"], tensors["float32"])
        with pytest.raises(tenfold.TenfoldError):
            file.get_tensor("a")


def test_a_device_is_named_as_for_safetensors(tmp_path, tensors):
    path = tmp_path / "a.safetensors"
    tenfold.torch.save_file({"a": tensors["float32"]}, path)
    for device in ("cpu", None, torch.device("cpu")):
        assert tenfold.torch.load_file(path, device=device)["a"].device == torch.device("cpu")
    for device in (0, True, np.int64(1)):
        for module in (tenfold, safetensors):
            with module.safe_open(path, "pt", device) as file:
                assert file.keys() == ["a"]
    for device in ("meta", "cpu:0", "cuda:", "gpu", -1, 1.5):
        with pytest.raises(tenfold.SafetensorError, match="device"):
            tenfold.torch.load_file(path, device=device)


def test_torch_tensors_that_no_file_gives_back_are_refused(tmp_path):
    path = tmp_path / "a.safetensors"
    a = torch.arange(12.0).reshape(3, 4)
    for given, kind in [
        ("none", ValueError),
        ({"a": [1.0]}, ValueError),
        ({"a": a.T}, ValueError),
        ({"a": a.to_sparse()}, ValueError),
        ({"a": a, "b": a[1:]}, RuntimeError),
        ({"a": a[:2], "b": a[1:]}, RuntimeError),
        ({"a": torch.zeros(3, device="meta")}, RuntimeError),
        ({1: a}, TypeError),
    ]:
        for module in (tenfold.torch, safetensors.torch):
            with pytest.raises(kind):
                module.save_file(given, path)
            with pytest.raises(kind):
                module.save(given)
    assert not path.exists()
    tenfold.torch.save_file({"a": a[:1], "b": a[1:]}, path)
    assert torch.equal(tenfold.torch.load_file(path)["b"], a[1:])


def test_views_are_grouped_by_the_memory_they_share():
    a, b = torch.arange(10.0), torch.zeros(4)
    views = {"all": a, "first": a[1:2], "third": a[4:6], "b": b, "none": torch.zeros(0)}
    assert tenfold.torch._find_shared_tensors(views) == [{"all", "first", "third"}, {"b"}]
    apart = {"odd": a[1:4:2], "late": a[4:]}
    assert tenfold.torch._find_shared_tensors(apart) == [{"odd"}, {"late"}]
    columns = torch.zeros(4, 4).T[1:3]
    assert tenfold.torch._end_ptr(columns) - columns.data_ptr() == 4 * (3 * 4 + 1 + 1)
    names = tenfold.torch._remove_duplicate_names({"x": a, "y": a, "z": a[2:]})
    assert names == {"x": ["y", "z"]}
    assert tenfold.torch._remove_duplicate_names({"x": a, "y": a}, preferred_names=["y"]) == {"y": ["x"]}
    assert tenfold.torch._remove_duplicate_names({"x": a, "y": a}, discard_names=["x"]) == {"y": ["x"]}
    with pytest.raises(RuntimeError, match="clone"):
        tenfold.torch._remove_duplicate_names({"x": a[1:]})


class Tied(torch.nn.Module):
    """Two layers that share their weights, and a third of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.a = torch.nn.Linear(3, 3)
        self.b = self.a
        self.c = torch.nn.Linear(3, 2)


def test_torch_models_are_saved_once_for_each_memory_and_loaded_back(tmp_path):
    paths = [tmp_path / name for name in ("ours.safetensors", "theirs.safetensors")]
    model = Tied()
    with torch.no_grad():
        model.c.weight = torch.nn.Parameter(torch.randn(3, 2).T)
    for module, path in zip((tenfold.torch, safetensors.torch), paths, strict=True):
        module.save_model(model, path, {"by": "me"})
        with pytest.raises(ValueError, match="force_contiguous=True"):
            module.save_model(model, tmp_path / "none", force_contiguous=False)
    for module, path in zip((tenfold.torch, safetensors.torch), reversed(paths), strict=True):
        with module.safe_open(path, framework="pt") as file:
            assert file.metadata() == {"by": "me", "b.weight": "a.weight", "b.bias": "a.bias"}
            assert file.keys() == ["a.bias", "a.weight", "c.bias", "c.weight"]
        again = Tied()
        missing, unexpected = module.load_model(again, path, device="cpu", backend="pread")
        assert (missing, unexpected) == (set(), [])
        assert all(torch.equal(again.state_dict()[name], own) for name, own in model.state_dict().items())


def test_torch_models_that_do_not_fit_are_refused_or_told(tmp_path):
    path = tmp_path / "a.safetensors"
    tenfold.torch.save_file({"a.weight": torch.ones(3, 3), "more": torch.ones(1)}, path)
    for module in (tenfold.torch, safetensors.torch):
        model = Tied()
        with pytest.raises(RuntimeError) as caught:
            module.load_model(model, path)
        lines = str(caught.value).splitlines()
        assert lines[0] == "Error(s) in loading state_dict for Tied:"
        assert lines[1].strip().startswith('Missing key(s) in state_dict: "')
        assert lines[2].strip() == 'Unexpected key(s) in state_dict: "more"'
        missing, unexpected = module.load_model(model, path, strict=False)
        assert {"c.weight", "c.bias"} < missing and list(unexpected) == ["more"]
        assert torch.equal(model.b.weight, torch.ones(3, 3))


def test_torch_tensors_are_saved_in_every_format(tmp_path, tensors):
    given = {name: tensors[name] for name in ("float32", "int64", "bool")}
    for name in ("a.npz", "a.zt", "a.gguf"):
        tenfold.torch.save_file({"w": given["float32"]}, tmp_path / name)
        assert torch.equal(tenfold.torch.load_file(tmp_path / name)["w"], given["float32"])
        assert tenfold.open(tmp_path / name).format in ("npz", "ztensor", "gguf")
