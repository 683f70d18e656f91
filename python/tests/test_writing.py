"""What every way of writing takes: parts, casts, names, state; and what it says was written."""

from __future__ import annotations

import numpy as np
import pytest
import tenfold
from samples import cells

COMPLEX = cells("<c8", (2, 3))


def written(way, path, tensors, **how):
    """Writes by one of the ways there are."""
    if way == "save":
        return tenfold.save(path, tensors, **how)
    if way == "create":
        with tenfold.create(path, **how) as writer:
            for name, array in tensors.items():
                writer.add(name, array)
        return writer.report
    if way == "dumps":
        path.write_bytes(tenfold.dumps(tensors, format=path.suffix[1:], **how))
        return None
    source = path.with_name("source.npz")
    np.savez(source, **tensors)
    return tenfold.convert(source, path, **how)


WAYS = ["save", "create", "dumps", "convert"]


@pytest.mark.parametrize("way", WAYS)
def test_parts_and_casts_are_taken_by_every_way_of_writing(tmp_path, way):
    tensors = {"a": COMPLEX, "b": COMPLEX * 2, "c": cells("<f8", (3,))}
    path = tmp_path / "x.npz"
    written(way, path, tensors, part={"a": "re", "b": "im"}, cast={"c": "f2"}, allow="precision")
    found = tenfold.load(path)
    assert np.array_equal(found["a"], COMPLEX.real) and np.array_equal(found["b"], COMPLEX.imag * 2)
    assert found["c"].dtype == np.float16 and np.array_equal(found["c"], tensors["c"])
    for wrong in ({"part": {"none": "re"}}, {"cast": {"none": "f4"}}, {"part": "x"}, {"sep": "ab"}):
        with pytest.raises(tenfold.InvalidRequest):
            written(way, path, tensors, **wrong)


@pytest.mark.parametrize("way", ["save", "convert"])
def test_names_become_paths_at_a_separator(tmp_path, way):
    written(way, tmp_path / "m.model", {"a.w": cells("<f4", (2, 3))}, sep=".")
    assert list(tenfold.open(tmp_path / "m.model")) == ["a/w"]


def test_statistics_are_left_out_where_that_is_asked_for(tmp_path, corpus):
    for name in ("model_adam.model", "parameter_adam.param"):
        source = corpus / "primitiv" / "good" / name
        tenfold.convert(source, tmp_path / "some.model", to="primitiv")
        n_all = len(tenfold.open(tmp_path / "some.model"))
        report = tenfold.convert(source, tmp_path / "some.model", to="primitiv", state=False)
        assert any("left out" in loss.detail for loss in report.losses)
        assert len(tenfold.open(tmp_path / "some.model")) < n_all


def test_files_beside_the_one_that_is_named_are_counted(tmp_path):
    path = tmp_path / "T.yaml"
    array = cells("<f8", (40, 50))
    saved = tenfold.save(path, array, format="cc4s")
    assert saved.beside == [str(tmp_path / "T.elements")]
    sizes = [own.stat().st_size for own in (path, tmp_path / "T.elements")]
    assert saved.nbytes == sum(sizes) and sizes[1] >= array.nbytes
    converted = tenfold.convert(path, tmp_path / "U.yaml")
    assert converted.beside == [str(tmp_path / "U.elements")] and converted.nbytes > array.nbytes
    alone = tenfold.save(tmp_path / "a.npz", {"a": array}, compress=True)
    assert alone.beside == [] and alone.nbytes == (tmp_path / "a.npz").stat().st_size


def test_all_bytes_of_a_gigantic_tensor_are_counted(tmp_path):
    path = tmp_path / "a.tns"
    path.write_text(f"{2**31} {2**32} 1.0\n")
    tensor = tenfold.open(path).only
    assert tensor.nbytes == tensor.size * 8 == 2**66
    assert tenfold.open(tenfold.dumps(np.ones((2, 3), "f4"), format="npy")).only.nbytes == 24


def test_what_is_there_of_a_set_is_converted_where_that_is_asked_for(tmp_path):
    name = "m-00001-of-00002.safetensors"
    tenfold.save(tmp_path / name, {"a": np.ones(2)})
    with pytest.raises(tenfold.LossRefused, match="alone=True takes what is there"):
        tenfold.convert(tmp_path / name, tmp_path / "a.npz")
    tenfold.convert(tmp_path / name, tmp_path / "a.npz", alone=True)
    assert list(tenfold.open(tmp_path / "a.npz")) == ["a"]
