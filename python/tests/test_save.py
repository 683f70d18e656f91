"""Saving, and what comes back."""

from __future__ import annotations

import numpy as np
import pytest
import tenfold
from samples import PLAIN, cells
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

MANY = ["safetensors", "ztensor", "npz"]


@pytest.mark.parametrize("format", [*MANY, "npy"])
@pytest.mark.parametrize("dtype", PLAIN)
def test_every_plain_type_comes_back(tmp_path, format, dtype):
    array = cells(dtype, (3, 5))
    if (format, dtype) in [("safetensors", "<c16"), ("ztensor", "<c8"), ("ztensor", "<c16")]:
        with pytest.raises(tenfold.LossRefused, match="no way"):
            tenfold.save(tmp_path / "a", {"a": array}, format=format)
        return
    value = array if format == "npy" else {"a": array}
    report = tenfold.save(tmp_path / "a", value, format=format)
    assert report.format == format and report.nbytes == (tmp_path / "a").stat().st_size
    found = tenfold.read(tmp_path / "a")
    assert found.dtype == array.dtype and found.tobytes() == array.tobytes()


def test_numpy_reads_what_is_saved(tmp_path):
    array = np.asfortranarray(cells("<f4", (3, 5)))
    tenfold.save(tmp_path / "a.npy", array)
    assert np.load(tmp_path / "a.npy").flags.f_contiguous
    assert np.array_equal(np.load(tmp_path / "a.npy"), array)
    tenfold.save(tmp_path / "a.npz", {"x": array, "y": array[0]}, compress=True)
    with np.load(tmp_path / "a.npz") as loaded:
        assert np.array_equal(loaded["x"], array) and np.array_equal(loaded["y"], array[0])


def test_safetensors_reads_what_is_saved(tmp_path):
    from safetensors.numpy import load_file, save_file

    arrays = {"a.weight": cells("<f4", (3, 5)), "b": cells("<i8", (2,)), "c": np.float16(3)}
    tenfold.save(tmp_path / "a.safetensors", arrays, metadata={"who": "me"})
    loaded = load_file(tmp_path / "a.safetensors")
    assert {name: value.tolist() for name, value in loaded.items()} == {
        name: value.tolist() for name, value in arrays.items()
    }
    save_file({"x": arrays["b"]}, tmp_path / "b.safetensors", metadata={"k": "v"})
    with tenfold.open(tmp_path / "b.safetensors") as file:
        assert file.metadata == {"k": "v"} and file["x"].numpy().tolist() == [0, 1]


def test_ztensor_reads_what_is_saved(tmp_path):
    ztensor = pytest.importorskip("ztensor")
    array = cells("<f4", (3, 5))
    tenfold.save(tmp_path / "a.zt", {"a": array}, version="2")
    with ztensor.open(str(tmp_path / "a.zt")) as source:
        assert source["a"].tobytes() == array.tobytes()


@pytest.mark.parametrize(
    "array",
    [np.arange(24).reshape(4, 6)[::2, ::3], np.arange(24).reshape(4, 6).T, np.arange(6)[::-1],
     np.broadcast_to(np.arange(3), (2, 3)), np.arange(8, dtype=">i4").reshape(2, 4)],
)  # fmt: skip
def test_arrays_of_any_stride_are_saved(array):
    found = tenfold.read(tenfold.dumps(array, format="npy"))
    assert np.array_equal(found, array)


def test_metadata_and_attributes_come_back(tmp_path):
    meta = {"a": 1, "b": [1.5, "x", None, True], "c": {"d": b"\0\1"}, "e": np.float32(2.5)}
    tenfold.save(tmp_path / "a.zt", {"x": np.ones(2)}, metadata=meta)
    with tenfold.open(tmp_path / "a.zt") as file:
        assert file.metadata == {**meta, "e": 2.5}
    with pytest.raises(tenfold.InvalidRequest, match="type object"):
        tenfold.dumps({"x": np.ones(2)}, format="ztensor", metadata={"o": object()})
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(tenfold.InvalidRequest, match="too deeply"):
        tenfold.dumps({"x": np.ones(2)}, format="ztensor", metadata={"o": loop})


def test_a_loss_is_refused_with_its_list(tmp_path):
    value = tenfold.Labelled(("x",), [("a",), ("b",)], np.ones((2, 3)))
    with pytest.raises(tenfold.LossRefused, match=r"allow=\['labels'\]") as caught:
        tenfold.save(tmp_path / "a.npy", value)
    assert [(loss.aspect, loss.tier) for loss in caught.value.losses] == [("labels", "refused")]
    with pytest.raises(tenfold.LossRefused, match="2 tensors where one is needed"):
        tenfold.save(tmp_path / "a.npy", {"a": np.ones(1), "b": np.ones(2)})
    assert isinstance(caught.value, ValueError) and not (tmp_path / "a.npy").exists()


def test_a_file_is_replaced_unless_it_may_not_be(tmp_path):
    tenfold.save(tmp_path / "a.npy", np.ones(1))
    tenfold.save(tmp_path / "a.npy", np.ones(2))
    with pytest.raises(tenfold.InvalidRequest, match="exists"):
        tenfold.save(tmp_path / "a.npy", np.ones(3), overwrite=False)
    assert tenfold.read(tmp_path / "a.npy").shape == (2,)


def test_what_cannot_be_saved_is_said(tmp_path):
    for value, why in [
        (np.array(["x"]), "no number type"), (np.array([object()]), "no number type"),
        ({3: np.ones(1)}, "names of tensors are text"),
    ]:  # fmt: skip
        with pytest.raises(tenfold.InvalidRequest, match=why):
            tenfold.save(tmp_path / "a.npz", value)
    for name, why in [("a.unknown", "says no format"), ("a.pt", "torch is read and never written")]:
        with pytest.raises(tenfold.InvalidRequest, match=why):
            tenfold.save(tmp_path / name, np.ones(1))
    with pytest.raises(tenfold.InvalidRequest, match="no format is called"):
        tenfold.save(tmp_path / "a", np.ones(1), format="nothing")
    with pytest.raises(tenfold.InvalidRequest, match="allow takes"):
        tenfold.save(tmp_path / "a.npy", np.ones(1), allow="nothing")
    with pytest.raises(FileNotFoundError):
        tenfold.save(tmp_path / "no" / "a.npy", np.ones(1))


def test_tensors_of_files_are_saved_as_they_are(tmp_path):
    tenfold.save(tmp_path / "a.npz", {"x": cells("<f4", (30, 40)), "y": cells("<i2", (7,))})
    with tenfold.open(tmp_path / "a.npz") as file:
        tenfold.save(tmp_path / "b.safetensors", file)
        tenfold.save(tmp_path / "c.npy", file["x"])
    assert not tenfold.diff(tmp_path / "a.npz", tmp_path / "b.safetensors")
    assert np.array_equal(np.load(tmp_path / "c.npy"), cells("<f4", (30, 40)))


def test_scipy_matrices_come_back(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.random(50, 40, 0.05, random_state=1, dtype="f4")
    for kind in ("csr", "csc", "coo", "bsr", "lil", "dok"):
        for name in ("a.mtx", "a.zt", "a.tens"):
            format = {"a.tens": "tens"}.get(name)
            value = matrix.asformat(kind)
            tenfold.save(tmp_path / name, {"m": value} if name == "a.zt" else value, format=format, allow="all")
            found = tenfold.open(tmp_path / name).only
            assert found.storage == "sparse", name
            assert (abs(found.sparse() - matrix) > 0).nnz == 0
            assert np.array_equal(found.numpy(), matrix.toarray())
            assert np.array_equal(found[3:9, ::-1], matrix.toarray()[3:9, ::-1])


def test_sparse_cells_become_labels_in_vespa_and_come_back(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    path = tmp_path / "m.tbf"
    size = 100_000
    large = sparse.coo_matrix(([1.5, -2.0], ([0, size - 1], [7, 3])), shape=(size, size))
    report = tenfold.save(path, large)
    assert sorted(loss.aspect for loss in report.losses) == ["invented", "labels"]
    with tenfold.open(path, options={"labels": "decimal", "shape": f"{size}x{size}"}) as file:
        assert (abs(file.only.sparse() - large) > 0).nnz == 0
    small = sparse.coo_matrix(([1.5, -2.0], ([0, 1], [1, 2])), shape=(2, 3))
    for options, dims in [({}, (2, 3)), ({"sparse": "true"}, (None, None))]:
        tenfold.save(path, small, options=options)
        with tenfold.open(path) as file:
            assert file.only.shape == dims


def test_a_feed_says_that_it_replaces_documents(tmp_path):
    path = tmp_path / "feed.jsonl"
    rows = np.ones((2, 3), "f4")
    report = tenfold.save(path, rows, format="vespa-feed")
    assert [note.kind for note in report.notes] == ["remark"]
    report = tenfold.save(path, rows, format="vespa-feed", options={"operation": "update"})
    assert report.notes == []
    assert '"assign"' in path.read_text()


def test_a_sparse_tensor_of_three_dimensions_has_coordinates():
    array = np.zeros((3, 4, 5))
    array[1, 2, 3], array[0, 0, 4] = 7, 8
    coords, values = tenfold.open(tenfold.dumps(array, format="npy")).only.sparse()
    assert coords.tolist() == [[0, 1], [0, 2], [4, 3]] and values.tolist() == [8, 7]


def test_labelled_blocks_come_back(tmp_path):
    value = tenfold.Labelled(
        ("brand", "cat"), [("a", "x"), ("b", "y")], np.array([[1.0, 2.0], [3.0, 4.0]]), ("d",)
    )
    tenfold.save(tmp_path / "a.tbf", value, format="vespa")
    tensor = tenfold.open(tmp_path / "a.tbf", format="vespa").only
    assert tensor.storage == "labelled" and tensor.shape == (None, None, 2)
    assert tensor.dims == ("brand", "cat", "d")
    found = tensor.labelled()
    assert found.labels == value.labels and np.array_equal(found.blocks, value.blocks)
    assert found["b", "y"].tolist() == [3.0, 4.0]
    assert found.coords == {"brand": ["a", "b"], "cat": ["x", "y"]}
    dense = found.dense(fill=-1)
    assert dense.shape == (2, 2, 2) and dense[0, 0].tolist() == [1, 2] and dense[0, 1, 0] == -1
    with pytest.raises(tenfold.InvalidRequest, match="labelled"):
        tensor.numpy()
    with pytest.raises(KeyError):
        _ = found["b", "x"]
    loaded = tenfold.load(tmp_path / "a.tbf", format="vespa")["a"]
    assert isinstance(loaded, tenfold.Labelled)


def test_symmetries_are_packed_and_come_back(tmp_path):
    half = np.random.default_rng(3).random((6, 6))
    array = half + half.T
    tenfold.save(tmp_path / "a.tens", tenfold.Symmetric(array, [(1, 0)]), format="tens")
    tensor = tenfold.open(tmp_path / "a.tens", format="tens").only
    assert tensor.symmetries == [tenfold.Symmetry((1, 0), "x", True)]
    assert tensor.stored_nbytes == 21 * 8
    assert np.array_equal(tensor.numpy(), array) and np.array_equal(tensor[2, 1:], array[2, 1:])
    assert tensor.symmetric().pack and np.array_equal(tensor.symmetric().dense(), array)
    with pytest.raises(tenfold.LossRefused, match="lack the symmetry"):
        tenfold.dumps(tenfold.Symmetric(half, [(1, 0)]), format="tens")


def test_xarray_names_come_back(tmp_path):
    xarray = pytest.importorskip("xarray")
    array = xarray.DataArray(cells("<f8", (2, 3)), dims=("x", "y"), attrs={"unit": "m"})
    tenfold.save(tmp_path / "a.zt", {"v": array})
    tensor = tenfold.open(tmp_path / "a.zt")["v"]
    assert tensor.dims == ("x", "y") and tensor.attrs["unit"] == "m"


def test_a_writer_takes_tensors_one_by_one(tmp_path):
    path = tmp_path / "out.zt"
    array = cells("<f4", (3, 5))
    with tenfold.create(path, format="ztensor", metadata={"a": 1}) as writer:
        writer.add("a", array)
        array[:] = 0
        with writer.stream("big", (4, 1000), "f8", dims=("x", "y")) as stream:
            for row in range(4):
                stream.write(np.full(1000, row))
            assert stream.left == 0
        writer.add("f", np.asfortranarray(cells("<i4", (2, 3))))
        writer.metadata["b"] = 2
        assert not path.exists()
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.zt"]
    with tenfold.open(path) as file:
        assert file.metadata == {"a": 1, "b": 2} and list(file) == ["a", "big", "f"]
        assert np.array_equal(file["a"].numpy(), cells("<f4", (3, 5)))
        assert file["big"].dims == ("x", "y") and file["big"][:, 7].tolist() == [0, 1, 2, 3]
        assert np.array_equal(file["f"].numpy(), cells("<i4", (2, 3)))


def test_a_writer_that_fails_leaves_nothing(tmp_path):
    with pytest.raises(RuntimeError), tenfold.create(tmp_path / "a.zt") as writer:
        writer.add("a", np.ones(3))
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    with tenfold.create(tmp_path / "a.zt") as writer:
        writer.add("a", np.ones(3))
        for wrong in [("a", np.ones(1))]:
            with pytest.raises(tenfold.InvalidRequest, match="called 'a' already"):
                writer.add(*wrong)
        stream = writer.stream("s", (4,), "f4")
        with pytest.raises(tenfold.InvalidRequest, match="lacks 4"):
            stream.write(np.ones(5, "f4"))
        with pytest.raises(tenfold.InvalidRequest, match="is f32"):
            stream.write(np.ones(2, "i8"))
        with pytest.raises(tenfold.InvalidRequest, match="not complete"):
            writer.add("b", np.ones(1))
        stream.write(np.ones(4, "f4"))
        stream.close()
    assert list(tenfold.open(tmp_path / "a.zt")) == ["a", "s"]


def test_dask_arrays_are_computed_chunk_by_chunk(tmp_path):
    da = pytest.importorskip("dask.array")
    array = cells("<f8", (100, 20))
    tenfold.save(tmp_path / "a.npy", da.from_array(array, chunks=(30, 7)))
    assert np.array_equal(np.load(tmp_path / "a.npy"), array)
    tenfold.save(tmp_path / "a.zt", {"x": da.from_array(array, chunks=10), "y": array})
    assert np.array_equal(tenfold.read(tmp_path / "a.zt", "x"), array)
    lazy = tenfold.open(tmp_path / "a.npy").only.to_dask(chunks=(50, 20))
    assert lazy.dtype == array.dtype and np.array_equal((lazy + 1)[::3].compute(), array[::3] + 1)


class StandIn:
    """What has DLPack and nothing else."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **how: object) -> object:
        return self.array.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


def test_whatever_has_dlpack_is_saved():
    array = cells("<f4", (3, 4))
    assert np.array_equal(tenfold.read(tenfold.dumps(StandIn(array), format="npy")), array)


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8),
        hnp.arrays(
            st.sampled_from(["?", "u1", "<i4", "<f4", "<f8", "<f2"]),
            hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
        ),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from(["safetensors", "ztensor"]),
)
def test_whatever_is_saved_comes_back(arrays, format):
    found = tenfold.load(tenfold.dumps(arrays, format=format, allow="keys"))
    assert set(found) == set(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()
