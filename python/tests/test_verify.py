"""What checking a file says."""

from __future__ import annotations

import dataclasses
import io
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
import tenfold


def by_command(path):
    """What the command lists of the same file."""
    command = [sys.executable, "-m", "tenfold", "verify", "--json", path]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return [tuple(own[name] for name in ("name", "allowed", "count", "at")) for own in json.loads(ran.stdout)["callables"]]


def calls(file):
    return [dataclasses.astuple(own) for own in tenfold.verify(file) if isinstance(own, tenfold.Callable)]


@pytest.mark.parametrize("name", ["of_state_dict", "class_call", "class_global", "array_of_objects", "array_big"])
def test_what_loading_a_pickle_calls_is_listed_as_the_command_does(corpus, name):
    path = corpus / "torch" / "good" / f"{name}.pt"
    listed = by_command(path)
    assert listed and calls(path) == listed == calls(path.read_bytes())
    with tenfold.open(path) as file:
        assert calls(file) == listed


def test_arrays_of_objects_say_what_they_call(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "a.npz", a=np.array([print], dtype=object))
    for name in ("a.npy", "a.npz"):
        found = [own for own in tenfold.verify(tmp_path / name) if isinstance(own, tenfold.Callable)]
        assert calls(tmp_path / name) == by_command(tmp_path / name)
        assert not all(own.allowed for own in found)
    assert any(own.name.endswith("print") for own in found)


def test_a_sound_file_without_pickles_calls_nothing(tmp_path):
    np.save(tmp_path / "a.npy", np.ones(3))
    assert tenfold.verify(tmp_path / "a.npy") == tenfold.verify(io.BytesIO((tmp_path / "a.npy").read_bytes())) == []
    found = tenfold.Callable("os.system", False, 1, 3)
    assert pickle.loads(pickle.dumps(found)) == found


def test_bytes_that_belong_to_nothing_are_noted_with_their_place(corpus):
    path = corpus / "npz" / "good" / "bytes_before.npz"
    expected = [tenfold.Note("unread-bytes", None, 0, "bytes that belong to nothing: 10", 10)]
    data = path.read_bytes()
    assert tenfold.verify(path, format="npz") == tenfold.verify(data, format="npz") == expected
    with tenfold.open(data, format="npz") as file:
        assert file.notes == [] and tenfold.verify(file) == expected
