"""Conversions, comparisons, and everything that reads whole files."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest
import tenfold
from samples import cells


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "m.safetensors"
    arrays = {"enc.w": cells("<f4", (30, 40)), "enc.b": cells("<f4", (30,)), "dec.w": cells("<f4", (5, 6))}
    tenfold.save(path, arrays, metadata={"k": "v"})
    return path


def test_a_conversion_keeps_everything(tmp_path, model):
    report = tenfold.convert(model, tmp_path / "m.zt")
    assert report.format == "ztensor" and report.nbytes == (tmp_path / "m.zt").stat().st_size
    assert not tenfold.diff(model, tmp_path / "m.zt")
    assert tenfold.hash(model) == tenfold.hash(tmp_path / "m.zt")
    assert tenfold.verify(tmp_path / "m.zt") == []


def test_some_tensors_as_other_numbers(tmp_path, model):
    out = tmp_path / "m.npz"
    tenfold.convert(model, out, only="enc.*", cast={"*.w": "f16"}, allow=["precision", "metadata"])
    found = tenfold.load(out)
    assert {name: value.dtype.str for name, value in found.items()} == {"enc.w": "<f2", "enc.b": "<f4"}
    with pytest.raises(tenfold.InvalidRequest, match="no tensor matches"):
        tenfold.convert(model, out, only="nothing*")


def test_progress_is_told(tmp_path, model):
    told = []
    tenfold.convert(model, tmp_path / "m.zt", progress=lambda done, expected: told.append((done, expected)))
    assert told and told[-1][0] == told[-1][1] > 0


def test_what_the_callback_raises_stops_the_work(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(4 << 20))

    def stop(done, expected):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        tenfold.convert(tmp_path / "a.npy", tmp_path / "a.zt", compress="zstd:15", progress=stop)
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"] or not (tmp_path / "a.zt").exists()


def test_ctrl_c_stops_a_long_conversion(tmp_path):
    # Sparse on the disk, and long to get through.
    with (tmp_path / "a.npy").open("wb") as file:
        shape = {"descr": "<f8", "fortran_order": False, "shape": (1 << 30,)}
        np.lib.format.write_array_header_1_0(file, shape)
        file.truncate(file.tell() + (8 << 30))
    # Where the caller of the tests ignores interrupts, Python does too.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        begun = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            tenfold.convert(tmp_path / "a.npy", tmp_path / "a.zt", checksum="sha256")
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.perf_counter() - begun < 20
    assert not (tmp_path / "a.zt").exists()


def test_differences(tmp_path):
    a, b = cells("<f4", (3, 4)), cells("<f4", (3, 4))
    b[1, 2] += 0.5
    found = tenfold.diff(a, b)
    assert found and not found.same and found.verdict == "changed"
    assert (found.unequal, found.largest, found.worst) == (1, 0.5, ([], [1, 2]))
    assert tenfold.diff(a, b, atol=1).verdict == "near"
    assert tenfold.diff(a, a.astype("f8"), ignore_dtype=True).verdict == "equal"
    tenfold.save(tmp_path / "a.npz", {"x": a, "y": a})
    tenfold.save(tmp_path / "b.npz", {"x": b, "z": a})
    both = tenfold.diff(tmp_path / "a.npz", tmp_path / "b.npz")
    assert both.only_a == ["y"] and both.only_b == ["z"] and both.tensors["x"].changed == 1
    assert tenfold.diff({"x": a}, {"x": a}).same


def test_statistics_are_those_of_numpy():
    array = np.random.default_rng(2).normal(size=1000)
    array[3] = np.nan
    found = tenfold.stats(array, bins=5)
    finite = array[np.isfinite(array)]
    assert found.cells == 1000 and found.nan == 1 and found.faults == ["nan"]
    assert found.min == finite.min() and found.max == finite.max()
    assert np.isclose(found.mean, finite.mean()) and np.isclose(found.std, finite.std())
    assert np.isclose(found.quantiles[50], np.median(finite)) and sum(found.histogram) == 999
    assert tenfold.stats(np.array([], "f4")).min is None


def test_a_bar_shows_progress(tmp_path, model, capsys):
    pytest.importorskip("tqdm")
    tenfold.convert(model, tmp_path / "m.zt", progress=True)
    assert "100%" in capsys.readouterr().err


def test_formats_are_listed():
    known = {format.name: format for format in tenfold.formats()}
    assert {"npy", "npz", "safetensors", "ztensor", "tens", "blz", "vespa"} <= set(known)
    assert known["npy"].extensions[0] == "npy"
    assert any(name == "compress" for name, _, _ in known["ztensor"].writing)


def test_quantised_tensors_need_a_type(corpus):
    found = 0
    for path in sorted((corpus / "gguf" / "good").glob("*.gguf")):
        for tensor in tenfold.open(path, lenient=True).values():
            if tensor.storage == "opaque":
                with pytest.raises(tenfold.InvalidRequest, match="dtype=|not understood"):
                    tensor.numpy()
                try:
                    assert tensor.numpy(dtype="f32").shape == tensor.shape
                    found += 1
                except tenfold.InvalidRequest as error:
                    assert "not understood" in str(error)
    assert found > 0


def test_trains_of_files_are_multiplied_out(corpus):
    found = 0
    for path in sorted((corpus / "blz" / "good").glob("*.blz")):
        file = tenfold.open(path, lenient=True)
        # What a compression declined or left undecided opens without a tensor.
        tensor = file.only if len(file) else None
        if tensor is None or 0 in tensor.shape:
            continue
        train = tensor.train()
        assert train.ranks == tuple(tensor.ranks)
        full = tensor.numpy()
        assert np.allclose(train.full(), full, equal_nan=True)
        assert np.allclose(tensor[..., -1], full[..., -1], equal_nan=True)
        found += 1
    assert found > 2


def test_the_command_is_installed(capfd):
    from tenfold import _tenfold

    assert _tenfold.main(["tenfold", "formats"]) == 0
    assert "safetensors" in capfd.readouterr().out


def test_complex_numbers_are_split_or_taken_in_part(tmp_path):
    values = np.array([[1 + 2j, -0.0 - 3j]])
    with pytest.raises(tenfold.LossRefused, match='complex="split"'):
        tenfold.save(tmp_path / "z.gguf", {"z": values})
    tenfold.save(tmp_path / "z.gguf", {"z": values}, complex="split")
    back = tenfold.load(tmp_path / "z.gguf")["z"]
    assert back.dtype == np.complex128 and back.tobytes() == values.tobytes()
    tenfold.save(tmp_path / "z.npy", values)
    for part, wanted in {"re": values.real, "im": values.imag, "abs": abs(values), "arg": np.angle(values)}.items():
        tenfold.convert(tmp_path / "z.npy", tmp_path / "part.npy", part=part)
        np.testing.assert_allclose(np.load(tmp_path / "part.npy"), wanted, rtol=1e-15)
    with pytest.raises(tenfold.InvalidRequest, match="re, im, abs or arg"):
        tenfold.convert(tmp_path / "z.npy", tmp_path / "part.npy", part="real")
