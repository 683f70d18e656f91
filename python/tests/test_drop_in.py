"""The modules that stand in for those of safetensors."""

from __future__ import annotations

import io
import itertools
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


@pytest.mark.parametrize("backend", ["mmap", "pread"])
def test_all_tensors_come_by_either_backend_in_memory_of_their_own(tmp_path, arrays, backend):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    large = cells("u1", (1 << 17,))
    arrays |= {"f": large.view("<f4"), "e": large.view(ml_dtypes.float8_e5m2), "z": large % 2 == 0}
    path = tmp_path / "a.safetensors"
    tenfold.numpy.save_file(arrays, path)
    found = tenfold.numpy.load_file(path, backend=backend)
    with tenfold.safe_open(path, "np", backend=backend) as ours, safetensors.safe_open(path, "np") as theirs:
        assert ours.keys() == theirs.keys() and ours.offset_keys() == theirs.offset_keys()
        assert list(ours.get_tensors()) == ours.offset_keys() == list(found)
        for name in arrays:
            taken = [ours.get_tensor(name), ours.get_tensor(name), ours.get_slice(name)[...]]
            assert not any(np.shares_memory(*pair) for pair in itertools.combinations(taken, 2))
            assert all(array.flags.writeable for array in taken)
    path.write_bytes(b"")
    for name, array in arrays.items():
        assert np.array_equal(found[name], array) and found[name].flags.writeable


def test_the_bytes_that_are_written_are_the_same(arrays):
    big_endian = {name: array.astype(array.dtype.newbyteorder(">")) for name, array in arrays.items()}
    for given in (arrays, big_endian, dict(reversed(arrays.items())), {}):
        for metadata in (None, {"k": "v"}):
            theirs = safetensors.numpy.save(given, metadata)
            assert tenfold.numpy.save(given, metadata) == theirs


def test_metadata_of_nothing_is_kept(tmp_path, arrays):
    path = tmp_path / "a.safetensors"
    assert tenfold.numpy.save(arrays, {}) == safetensors.numpy.save(arrays, {})
    for metadata in ({}, None):
        tenfold.numpy.save_file(arrays, path, metadata)
        with safetensors.safe_open(path, "np") as theirs, tenfold.safe_open(path, "np") as ours:
            assert ours.metadata() == theirs.metadata() == metadata
    # Of a file without tensors the reference writes other than JSON.
    assert tenfold.serialize({}, {}) == b"\x18\0\0\0\0\0\0\0" + b'{"__metadata__":{}}'.ljust(24)


def test_an_array_that_is_not_contiguous_is_written_with_its_own_values():
    array = cells("<f4", (4, 6))
    for given in (array.T, array[:, ::2], array[::-1], array[1, 2]):
        assert np.array_equal(tenfold.numpy.load(tenfold.numpy.save({"a": given}))["a"], given)


def raised(call):
    """What a call raises, and the text of it."""
    with pytest.raises(Exception) as caught:
        call()
    return caught.value


SHARED_TEXTS = [
    np.s_[:, -7], np.s_[4], np.s_[1:, 20], np.s_[:5], np.s_[4:], np.s_[:, :7], np.s_[1:9:2, 0], [0, 1],
]  # fmt: skip
OTHER_TEXTS = [np.s_[0, 0, 0], np.s_[..., ...], np.s_[::-1], np.s_[::0], None, "a", np.array([1])]


@pytest.mark.parametrize("index", [*SHARED_TEXTS, *OTHER_TEXTS], ids=repr)
def test_an_index_that_safetensors_refuses_is_refused(tmp_path, arrays, index):
    path = tmp_path / "a.safetensors"
    tenfold.numpy.save_file(arrays, path)
    with safetensors.safe_open(path, "np") as theirs, tenfold.safe_open(path, "np") as ours:
        expected = raised(lambda: theirs.get_slice("b")[index])
        found = raised(lambda: ours.get_slice("b")[index])
    assert isinstance(expected, safetensors.SafetensorError) and isinstance(found, tenfold.SafetensorError)
    if any(index is shared for shared in SHARED_TEXTS):
        assert str(found) == str(expected)


WRONG_BOUNDS = [np.s_[-1:], np.s_[:, :-1], np.s_[1 << 70 :], np.s_[0:-1:-1], np.s_["a":], np.s_[0:1.5], np.s_[:1:"a"], np.s_[0, 0, -1:]]


@pytest.mark.parametrize("index", WRONG_BOUNDS, ids=repr)
def test_bounds_of_slices_are_whole_numbers_that_are_not_negative(tmp_path, arrays, index):
    path = tmp_path / "a.safetensors"
    tenfold.numpy.save_file(arrays, path)
    with safetensors.safe_open(path, "np") as theirs, tenfold.safe_open(path, "np") as ours:
        expected = raised(lambda: theirs.get_slice("b")[index])
        found = raised(lambda: ours.get_slice("b")[index])
    assert type(found) is type(expected) and type(found) in (OverflowError, TypeError)


GOOD_INDICES = [np.s_[:], (), np.s_[1], np.s_[-1, 2:], np.s_[..., -1], np.s_[1, ...], np.s_[::2, 1:5:3], [], np.s_[2:2]]


@pytest.mark.parametrize("index", GOOD_INDICES, ids=repr)
def test_a_slice_is_that_of_safetensors(tmp_path, arrays, index):
    path = tmp_path / "a.safetensors"
    tenfold.numpy.save_file(arrays, path)
    with safetensors.safe_open(path, "np") as theirs, tenfold.safe_open(path, "np") as ours:
        expected, found = theirs.get_slice("b")[index], ours.get_slice("b")[index]
    assert type(found) is type(expected) and found.shape == expected.shape
    assert np.array_equal(found, expected)


def test_what_is_wrong_with_a_request_is_raised_as_safetensors_does(tmp_path, arrays):
    path, missing = tmp_path / "a.safetensors", tmp_path / "missing.safetensors"
    tenfold.numpy.save_file(arrays, path)
    (tmp_path / "bad.safetensors").write_bytes(b"\x40\0\0\0\0\0\0\0{")
    a = {"a": np.ones(1, "f4")}

    def closed(module):
        with module.safe_open(path, framework="np") as file:
            pass
        file.keys()

    requests = [
        closed,
        lambda module: module.safe_open(missing, framework="np"),
        lambda module: module.safe_open(tmp_path / "bad.safetensors", framework="np"),
        lambda module: module.safe_open(path, framework="none"),
        lambda module: module.safe_open(path, framework="np", device="cuda:0"),
        lambda module: module.safe_open(path, framework="pt", device="gpu"),
        lambda module: module.safe_open(path, framework="pt", device="cuda:x"),
        lambda module: module.safe_open(path, framework="pt", device="mps:1"),
        lambda module: module.safe_open(path, framework="np", backend="none"),
        lambda module: module.safe_open(path, framework="np").get_tensor("none"),
        lambda module: module.safe_open(path, framework="np").get_slice("none"),
        lambda module: module.numpy.load_file(missing),
        lambda module: module.numpy.load(b"none"),
        lambda module: module.numpy.load("none"),
        lambda module: module.numpy.save(a, {"k": 1}),
        lambda module: module.numpy.save({1: np.ones(1)}),
        lambda module: module.numpy.save(["none"]),
        lambda module: module.numpy.save({"a": np.ones(1, "c16")}),
        lambda module: module.numpy.save_file(a, missing / "none" / "a.safetensors"),
        lambda module: module.deserialize(b"none"),
    ]  # fmt: skip
    for number, request in enumerate(requests):
        expected, found = raised(lambda: request(safetensors)), raised(lambda: request(tenfold))
        classes = (safetensors.SafetensorError, FileNotFoundError, TypeError, ValueError, AttributeError)
        kind = next(own for own in classes if isinstance(expected, own))
        ours = tenfold.SafetensorError if kind in (safetensors.SafetensorError, ValueError) else kind
        assert isinstance(found, ours), (number, expected, found)
        if kind is FileNotFoundError:
            assert str(found) == str(expected)


@pytest.mark.parametrize("name", ["\0", "x" * 300, "a.safetensors/b", "none/b"], ids=["nul", "long", "below a file", "none"])
def test_where_no_file_can_be_there_is_none(tmp_path, arrays, name):
    tenfold.numpy.save_file(arrays, tmp_path / "a.safetensors")
    path = f"{tmp_path}/{name}"
    for module in (safetensors, tenfold):
        for load in (lambda: module.safe_open(path, "np"), lambda: module.numpy.load_file(path)):
            found = raised(load)
            assert isinstance(found, FileNotFoundError) and str(found) == f"No such file or directory: {path}"


def test_open_files_are_taken(tmp_path, arrays):
    path = tmp_path / "a.safetensors"
    tenfold.numpy.save_file(arrays, path)
    data = path.read_bytes()
    with open(path) as text, open(path, "rb") as binary:
        for source in (text, binary, io.BytesIO(data)):
            with tenfold._safe_open_handle(source, framework="np", device="cpu") as file:
                assert np.array_equal(file.get_tensor("b"), arrays["b"])
    with open(path, "rb") as binary:
        assert np.array_equal(tenfold.numpy.load_file(binary)["b"], arrays["b"])


NAMES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32",
         "float64", "bfloat16", "complex64", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
         "float8_e8m0fnu", "float4_e2m1fn_x2"]  # fmt: skip


def test_tensors_at_addresses_are_written_and_read_alike(tmp_path):
    memory = np.arange(64, dtype="u1")

    def written(module):
        specs = {}
        for name in NAMES:
            width = 8 if name == "complex64" else int("".join(filter(str.isdigit, name))[:2] or 8) // 8
            width = 1 if name.startswith(("bool", "float8", "float4")) else 2 if name == "bfloat16" else width
            given = {"shape": [2, 3], "data_ptr": memory.ctypes.data, "data_len": 6 * width}
            specs[name] = module.TensorSpec(dtype=name, **given)
        specs["none"] = module.TensorSpec(dtype="int8", shape=[0], data_ptr=0, data_len=0)
        module.serialize_file(specs, tmp_path / module.__name__, {"k": "v"})
        data = module.serialize(specs, metadata={"k": "v"})
        assert (tmp_path / module.__name__).read_bytes() == data
        seen = {name: (spec.dtype, spec.shape, spec.data_len, repr(spec)) for name, spec in specs.items()}
        return data, seen

    data, seen = written(safetensors)
    assert written(tenfold) == (data, seen)
    assert dict(tenfold.deserialize(data)) == dict(safetensors.deserialize(data))


def test_addresses_of_nothing_are_refused():
    spec = {"dtype": "float32", "shape": [2], "data_ptr": 1 << 40, "data_len": 4}
    with pytest.raises(tenfold.SafetensorError):
        tenfold.serialize({"a": tenfold.TensorSpec(**spec)})
    for wrong in ({"dtype": "float"}, {"data_ptr": 0}):
        with pytest.raises(tenfold.SafetensorError):
            tenfold.TensorSpec(**{**spec, **wrong})
    with pytest.raises(TypeError, match="TensorSpec"):
        tenfold.serialize({"a": spec})


@pytest.mark.parametrize(
    ("framework", "module", "function"),
    [
        ("tf", "tensorflow", "convert_to_tensor"),
        ("flax", "jax.numpy", "array"),
        ("mlx", "mlx.core", "array"),
        ("paddle", "paddle", "to_tensor"),
    ],
)
def test_other_frameworks_make_tensors_of_arrays(tmp_path, monkeypatch, arrays, framework, module, function):
    names = module.split(".")
    for depth in range(len(names)):
        monkeypatch.setitem(sys.modules, ".".join(names[: depth + 1]), types.ModuleType(names[depth]))
    setattr(sys.modules[module], function, lambda array, place=None: ("made", array, place))
    path = tmp_path / "a.safetensors"
    tenfold.numpy.save_file(arrays, path)
    places = {"cpu": "cpu", "cuda:1": "gpu:1", 1: "gpu:1"} if framework == "paddle" else {"cpu": None}
    for device, wanted in places.items():
        with tenfold.safe_open(path, framework, device) as file:
            for word, array, place in (file.get_tensor("b"), file.get_slice("b")[:], file.get_tensors()["b"]):
                assert (word, place) == ("made", wanted) and np.array_equal(array, arrays["b"])


def test_paddle_takes_the_bits_of_bf16_and_no_u16(tmp_path, monkeypatch):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    paddle = types.ModuleType("paddle")
    paddle.to_tensor = lambda array, place: array
    monkeypatch.setitem(sys.modules, "paddle", paddle)
    bits = cells("<u2", (3,))
    path = tmp_path / "a.safetensors"
    tenfold.numpy.save_file({"h": bits.view(ml_dtypes.bfloat16), "u": bits}, path)
    with tenfold.safe_open(path, "paddle") as file:
        assert np.array_equal(file.get_tensor("h"), bits) and file.get_tensor("h").dtype == np.uint16
        with pytest.raises(tenfold.SafetensorError, match="u16"):
            file.get_tensor("u")


def test_the_ending_of_a_file_says_its_format(tmp_path, arrays):
    tenfold.numpy.save_file(arrays, tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as loaded:
        assert np.array_equal(loaded["b"], arrays["b"])
    tenfold.numpy.save_file(arrays, str(tmp_path / "no_ending"))
    assert tenfold.open(tmp_path / "no_ending").format == "safetensors"


class StandInDevice:
    """The memory of this machine."""

    type = "cpu"


class StandInTensor:
    """As much of a tensor of PyTorch as the package asks for."""

    __module__ = "torch"
    layout = "strided"

    def __init__(self, bits: np.ndarray, dtype: str, device: object = None) -> None:
        self.bits, self.dtype = bits, dtype
        self.device = device or StandInDevice()
        self.shape = bits.shape

    def detach(self):
        return self

    cpu = contiguous = resolve_conj = resolve_neg = detach

    def is_contiguous(self) -> bool:
        return True

    def untyped_storage(self):
        memory = types.SimpleNamespace(data_ptr=lambda: id(self), nbytes=lambda: self.bits.nbytes)
        return memory

    def view(self, dtype: str):
        return StandInTensor(self.bits, dtype, self.device)

    def to(self, device: object):
        return StandInTensor(self.bits, self.dtype, device)

    def numpy(self) -> np.ndarray:
        assert self.dtype not in ("torch.bfloat16", "torch.float8_e5m2"), "NumPy has no such type"
        return self.bits

    def __getitem__(self, index):
        return StandInTensor(self.bits[index], self.dtype, self.device)


@pytest.fixture
def stand_in(monkeypatch):
    """A module that stands in for PyTorch, which is a very large download."""
    module = types.ModuleType("torch")
    for name in ("bfloat16", "int16", "uint8", "float8_e5m2"):
        setattr(module, name, f"torch.{name}")
    module.Tensor, module.strided = StandInTensor, "strided"
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
