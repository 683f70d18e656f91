"""Opening files, and what they say."""

from __future__ import annotations

import io as streams
import pickle

import numpy as np
import pytest
import tenfold
from samples import PLAIN, cells


@pytest.mark.parametrize("dtype", PLAIN)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (3, 4), (2, 3, 4)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_what_numpy_saves_is_read_bit_by_bit(tmp_path, io, dtype, shape, order):
    array = np.asarray(cells(dtype, shape), order=order)
    np.save(tmp_path / "a.npy", array)
    found = tenfold.open(tmp_path / "a.npy", io=io).only
    assert (found.shape, found.dtype, found.ndim, found.size) == (shape, array.dtype, array.ndim, array.size)
    assert found.nbytes == array.nbytes
    values = found.numpy()
    assert values.dtype == array.dtype and values.shape == array.shape
    assert values.tobytes() == array.tobytes()
    assert np.asarray(found).tobytes() == array.tobytes()


@pytest.mark.parametrize("dtype", [">i2", ">f4", ">f8", ">c16"])
def test_the_other_byte_order_is_turned_round(tmp_path, io, dtype):
    array = cells(dtype, (3, 4))
    np.save(tmp_path / "a.npy", array)
    found = tenfold.read(tmp_path / "a.npy", io=io)
    assert found.dtype == array.dtype.newbyteorder("<")
    assert np.array_equal(found, array)


def test_a_file_is_a_mapping(tmp_path):
    np.savez(tmp_path / "a.npz", b=np.ones(2), a=np.zeros((3, 1)))
    with tenfold.open(tmp_path / "a.npz") as file:
        assert list(file) == ["b", "a"] and len(file) == 2
        assert "a" in file and "c" not in file and 3 not in file
        assert file.format == "npz" and file.metadata == {} and file.notes == []
        assert [(key, tensor.shape) for key, tensor in file.items()] == [("b", (2,)), ("a", (3, 1))]
        assert file.get("c") is None
        assert repr(file["a"]) == "<Tensor 'a': f64 (3, 1) dense>"
        assert repr(file).endswith("a.npz' npz, 2 tensors>")
        with pytest.raises(tenfold.InvalidRequest, match="2 tensors where one is wanted"):
            _ = file.only
    with pytest.raises(tenfold.InvalidRequest, match="closed"):
        _ = file["a"]
    assert file.closed and repr(file) == "<closed File>"


def test_a_lone_tensor_is_called_by_its_file(tmp_path):
    np.save(tmp_path / "field.npy", np.arange(3))
    with tenfold.open(str(tmp_path / "field.npy")) as file:
        assert list(file) == ["field"] and file.only.key == "field"
    assert list(tenfold.load(tmp_path / "field.npy")) == ["field"]


def test_bytes_and_file_objects_are_files_too(tmp_path):
    array = cells("<f4", (300, 400))
    np.save(tmp_path / "a.npy", array)
    data = (tmp_path / "a.npy").read_bytes()
    for origin in [data, bytearray(data), memoryview(data), streams.BytesIO(data)]:
        assert np.array_equal(tenfold.read(origin), array)
    with (tmp_path / "a.npy").open("rb") as handle:
        assert np.array_equal(tenfold.read(handle), array)
    with pytest.raises(tenfold.InvalidRequest, match="binary mode"):
        tenfold.read(streams.StringIO("text"))
    with pytest.raises(TypeError, match="not int"):
        tenfold.open(3)


def test_one_of_many_and_a_part_of_it(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.arange(6).reshape(2, 3), y=np.ones(2))
    assert tenfold.read(tmp_path / "a.npz", "x", np.s_[1, ::2]).tolist() == [3, 5]
    assert tenfold.read(tmp_path / "a.npz", "y", dtype="f32").dtype == np.float32


def test_numbers_that_numpy_has_no_word_for():
    wide = np.zeros(3, tenfold.dtypes.int128)
    wide["low"], wide["high"] = [1, 2, 3], [0, -1, 5]
    data = tenfold.dumps(wide, format="tens", allow="all")
    found = tenfold.open(data).only
    assert found.element == "i128"
    assert found.numpy().tobytes() == wide.tobytes()
    assert found.stats().min == -(2**64) + 2


def test_bf16_comes_through_ml_dtypes(tmp_path, io):
    import ml_dtypes

    array = np.arange(12).astype(ml_dtypes.bfloat16).reshape(3, 4)
    tenfold.save(tmp_path / "a.safetensors", {"w": array})
    found = tenfold.open(tmp_path / "a.safetensors", io=io)["w"]
    assert found.element == "bf16" and found.dtype == ml_dtypes.bfloat16
    assert found.numpy().tobytes() == array.tobytes()
    assert found.numpy(dtype="f32").tolist() == array.astype("f4").tolist()
    assert found[1].tolist() == array[1].tolist()


@pytest.mark.parametrize(
    "name", ["float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float8_e4m3fnuz", "float8_e5m2fnuz"]
)
def test_floats_of_one_byte_come_through_ml_dtypes(tmp_path, io, name):
    import ml_dtypes

    array = np.arange(1, 13).astype(getattr(ml_dtypes, name)).reshape(3, 4)
    for format in ("safetensors", "ztensor"):
        version = "2" if format == "ztensor" else None
        tenfold.save(tmp_path / format, {"w": array}, format=format, version=version)
        file = tenfold.open(tmp_path / format, io=io)
        found = file["w"]
        assert found.dtype == array.dtype and found.shape == (3, 4)
        assert found.numpy().tobytes() == file.array("w").tobytes() == array.tobytes()
        assert found[1:, ::2].tobytes() == array[1:, ::2].tobytes()
        assert found.numpy(dtype="f32").tolist() == array.astype("f4").tolist()
        assert tenfold.load(tmp_path / format)["w"].tobytes() == array.tobytes()


def test_without_ml_dtypes_the_error_names_it(monkeypatch):
    import sys

    from tenfold import _dtypes

    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(tenfold.MissingPackage, match="pip install ml_dtypes") as caught:
        _dtypes.numpy_type("bf16")
    assert isinstance(caught.value, ImportError)


def test_a_type_that_numpy_lacks_is_a_void_type_of_its_size(monkeypatch):
    import sys

    from tenfold import _dtypes

    names = {"q4_0": 0, "Q4_K": 0, "42": 0, "F4": 0, "F6_E2M3": 0, "none<none>": 0}
    assert {name: _dtypes.type_or_void(name) for name in names} == {name: np.dtype("V") for name in names}
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    for name, size in {"bf16": 2, "F8_E4M3": 1, "complex<bf16>": 2, "quaternion<F8_E5M2>": 1}.items():
        assert _dtypes.type_or_void(name) == np.dtype((np.void, size))
    assert _dtypes.type_or_void("complex<f16>") == np.float16
    data = tenfold.dumps(np.ones(2, "f4"), format="npy")
    half = tenfold.open(data).only.astype("bf16")
    assert (half.dtype.kind, half.dtype.itemsize) == ("V", 2)


def test_bools_are_0_or_1_whatever_the_file_says(tmp_path, io):
    np.save(tmp_path / "a.npy", np.array([False, True, True]))
    path = tmp_path / "a.npy"
    data = bytearray(path.read_bytes())
    data[-1] = 7
    path.write_bytes(data)
    tensor = tenfold.open(path, io=io).only
    assert tensor.numpy().view("u1").tolist() == [0, 1, 1]
    assert np.asarray(tensor[1:]).view("u1").tolist() == [1, 1]


def test_a_repr_reads_nothing(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", x=np.arange(10**5))
    path = tmp_path / "a.npz"
    file = tenfold.open(path, io="read")
    data = path.read_bytes()
    path.write_bytes(data[:60] + bytes(len(data) - 60))
    assert repr(file["x"]) == "<Tensor 'x': i64 (100000,) dense>"
    with pytest.raises(tenfold.TenfoldError):
        file["x"].numpy()


def test_handles_are_pickled_by_path(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.arange(6).reshape(2, 3))
    file = tenfold.open(tmp_path / "a.npz", io="read")
    again = pickle.loads(pickle.dumps(file["x"]))
    assert again.key == "x" and again.numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert list(pickle.loads(pickle.dumps(file))) == ["x"]
    with pytest.raises(TypeError, match="on disk"):
        pickle.dumps(tenfold.open(tenfold.dumps(np.ones(1), format="npy")).only)


def test_a_hundred_thousand_names_stay_quick(tmp_path):
    import time

    value = np.zeros(1, "u1")
    tenfold.save(tmp_path / "a.safetensors", {f"t{at}": value for at in range(10**5)})
    begun = time.perf_counter()
    file = tenfold.open(tmp_path / "a.safetensors")
    assert len(file) == 10**5
    for at in range(0, 10**5, 7):
        assert f"t{at}" in file and file[f"t{at}"].shape == (1,)
    assert time.perf_counter() - begun < 20
