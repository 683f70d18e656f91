"""Errors name the file that they are about."""

from __future__ import annotations

import numpy as np
import pytest
import tenfold

CALLS = {
    "open": tenfold.open,
    "read": tenfold.read,
    "load": tenfold.load,
    "verify": tenfold.verify,
    "hash": tenfold.hash,
    "hashes": tenfold.hashes,
    "stats": tenfold.stats,
    "compress": tenfold.compress,
    "diff": lambda path: tenfold.diff(path, np.ones(2)),
    "diff as second": lambda path: tenfold.diff(path.with_name("sound.npy"), path),
    "cells": lambda path: tenfold.open(path, io="read").only[0],
}


@pytest.fixture
def folder(tmp_path):
    np.save(tmp_path / "sound.npy", np.arange(12.0).reshape(3, 4))
    return tmp_path


def assert_named(path, call):
    with pytest.raises(tenfold.TenfoldError) as caught:
        call(path)
    assert str(path) in str(caught.value) or getattr(caught.value, "filename", None) == str(path)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_missing_an_unknown_and_a_short_file_are_named(folder, call):
    sound = (folder / "sound.npy").read_bytes()
    (folder / "unknown.xyz").write_bytes(b"this is text")
    (folder / "no.npy").write_bytes(b"this is text")
    (folder / "short.npy").write_bytes(sound[:-3])
    for name in ("missing.npy", "unknown.xyz", "no.npy", "short.npy"):
        assert_named(folder / name, call)
    with pytest.raises(tenfold.UnrecognisedFile, match="no known format: name one with format=") as caught:
        tenfold.open(folder / "unknown.xyz")
    assert caught.value.file == str(folder / "unknown.xyz")


# Shapes and parts are not all that a checksum is of.
WHOLE = {name: CALLS[name] for name in ("read", "load", "verify", "hash", "hashes", "stats", "compress")}
WHOLE["diff"] = lambda path: tenfold.diff(path, path)


@pytest.mark.parametrize("call", WHOLE.values(), ids=WHOLE)
def test_a_file_with_damaged_values_is_named(folder, call):
    (folder / "twice.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0\n1 1 2.0\n")
    values = np.arange(1000.0).reshape(2, -1)
    tenfold.save(folder / "sum.zt", {"a": values}, checksum="sha256", version="2")
    data = bytearray((folder / "sum.zt").read_bytes())
    data[data.index(values.tobytes()) + 80] ^= 1
    (folder / "sum.zt").write_bytes(data)
    for path in (folder / "twice.mtx", folder / "sum.zt"):
        with pytest.raises(tenfold.MalformedFile) as caught:
            call(path)
        assert str(path) in str(caught.value) and caught.value.format


def test_the_damaged_file_of_a_folder_is_named(folder):
    values = np.arange(1000.0)
    for name in ("one", "two"):
        tenfold.save(folder / f"{name}.zt", {name: values}, checksum="sha256")
    (folder / "sound.npy").unlink()
    data = bytearray((folder / "two.zt").read_bytes())
    data[data.index(values.tobytes()) + 80] ^= 1
    (folder / "two.zt").write_bytes(data)
    for call in (tenfold.verify, tenfold.hash, tenfold.load):
        with pytest.raises(tenfold.MalformedFile, match="checksum") as caught:
            call(folder)
        assert str(folder / "two.zt") in str(caught.value)


@pytest.mark.parametrize("name", ["read", "stats", "compress", "cells"])
def test_a_file_of_several_tensors_is_named_where_one_is_wanted(folder, name):
    path = folder / "two.npz"
    np.savez(path, a=np.ones(2), b=np.ones(3))
    with pytest.raises(tenfold.InvalidRequest) as caught:
        CALLS[name](path)
    assert str(caught.value) == f"{path}: 2 tensors where one is wanted: 'a', 'b'"
    with pytest.raises(tenfold.TensorNotFound, match="no tensor is called 'c'") as missing:
        tenfold.read(path, "c")
    assert str(missing.value).startswith(f"{path}: ")


def test_what_cannot_be_done_with_values_names_their_file(folder):
    np.save(folder / "nan.npy", np.array([[np.nan, 1], [2, 1e300]]))
    np.save(folder / "c.npy", np.ones((2, 2), "c16"))
    nan, complex_ = folder / "nan.npy", folder / "c.npy"
    assert_named(nan, tenfold.compress)
    assert_named(nan, lambda path: tenfold.open(path).only.train())
    assert_named(nan, lambda path: tenfold.open(path).only.labelled())
    assert_named(complex_, lambda path: tenfold.read(path, dtype="int8"))
    with pytest.raises(tenfold.InvalidRequest, match=r"numpy\(\)\.astype\(\)") as caught:
        tenfold.open(nan).only.numpy(dtype="int8")
    assert str(nan) in str(caught.value)
    # What is wrong with the target is not said of the source.
    with pytest.raises(tenfold.InvalidRequest) as caught:
        tenfold.convert(nan, folder / "a.npz.zst", to="npz")
    assert str(nan) not in str(caught.value)


def test_what_a_file_cannot_be_opened_without_names_it(corpus, folder):
    for path in (corpus / "vespa-feed" / "good" / "list.jsonl", corpus / "cc4s" / "good" / "tail.elements"):
        with pytest.raises(tenfold.InvalidRequest) as caught:
            tenfold.open(path)
        assert str(caught.value).startswith(f"{path}: ")
    with pytest.raises(tenfold.TenfoldError, match="sound.npy: "):
        tenfold.open(f"{folder / 'sound.npy'}:none")
    # An argument that makes no sense for any file names none.
    with pytest.raises(tenfold.InvalidRequest, match="^io is"):
        tenfold.open(folder / "sound.npy", io="fast")
