"""Folders, indices, globs and numbered sets as one file."""

import json
import os

import numpy as np
import pytest
import tenfold
from safetensors.numpy import save_file


@pytest.fixture
def sharded(tmp_path):
    """A checkpoint in two files with an index, as `transformers` writes it."""
    first = {"a": np.arange(6, dtype="f4").reshape(2, 3)}
    second = {"b": np.ones(4, dtype="i8"), "c": np.zeros((2, 2), dtype="f8")}
    names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    for name, tensors in zip(names, (first, second)):
        save_file(tensors, tmp_path / name)
    owners = {key: names[0] for key in first} | {key: names[1] for key in second}
    index = {"metadata": {}, "weight_map": owners}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    return tmp_path, first | second


def test_a_folder_an_index_and_a_glob_are_one_file(sharded):
    folder, expected = sharded
    for path in (folder, folder / "model.safetensors.index.json", f"{folder}/model-*.safetensors"):
        with tenfold.open(path) as file:
            assert set(file) == set(expected)
            for name, array in expected.items():
                found = file[name].numpy()
                np.testing.assert_array_equal(found, array)
                # A view of the very file that it is in.
                assert not found.flags.owndata


def test_a_tensor_is_named_behind_a_colon(sharded):
    folder, expected = sharded
    path = f"{folder}/model.safetensors.index.json:a[0, ::2]"
    np.testing.assert_array_equal(tenfold.read(path), expected["a"][0, ::2])


def test_a_set_that_lacks_a_file_says_so(sharded):
    folder, _ = sharded
    (folder / "model-00002-of-00002.safetensors").unlink()
    with tenfold.open(folder) as file:
        assert list(file) == ["a"]
        assert [note.kind for note in file.notes] == ["incomplete"]
    with pytest.raises(tenfold.LossRefused, match="missing"):
        tenfold.convert(folder, folder / "out.zt")


def test_a_file_of_a_set_is_opened_alone(tmp_path):
    arrays = {f"t{number}": np.full(40, number, dtype="f4") for number in range(3)}
    tenfold.save(tmp_path / "m.gguf", arrays)
    command = ["convert", str(tmp_path / "m.gguf"), str(tmp_path / "s.gguf"), "--max-size", "200"]
    assert tenfold._tenfold.main(["tenfold", *command]) == 0
    second = tmp_path / "s-00002-of-00003.gguf"
    assert len(tenfold.open(second)) == 3
    assert list(tenfold.open(second, alone=True)) == ["t1"]


def test_a_file_of_another_kind_is_named(tmp_path):
    path = tmp_path / "x.h5"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(20))
    with pytest.raises(tenfold.UnrecognisedFile, match="x.h5: an HDF5 file, which is not read yet"):
        tenfold.open(path)


def test_errors_name_their_file(tmp_path):
    path = tmp_path / "cut.npy"
    path.write_bytes(tenfold.dumps(np.arange(9.0), format="npy")[:-8])
    with pytest.raises(tenfold.MalformedFile, match="cut.npy: not a valid npy file"):
        tenfold.open(path)


def test_the_environment_says_how_values_come(tmp_path, monkeypatch):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(4.0))
    mapped = tenfold.open(path).only
    assert np.shares_memory(mapped.numpy(), mapped.numpy())
    monkeypatch.setitem(os.environ, "TENFOLD_IO", "read")
    read = tenfold.open(path).only
    assert not np.shares_memory(read.numpy(), read.numpy())
    np.testing.assert_array_equal(read.numpy(), np.arange(4.0))
    # What is asked for by name is given.
    mapped = tenfold.open(path, io="mmap").only
    assert np.shares_memory(mapped.numpy(), mapped.numpy())
