"""Files as datasets."""

from __future__ import annotations

import numpy as np
import pytest
import tenfold
from samples import cells

xr = pytest.importorskip("xarray")
ENGINE = pytest.importorskip("tenfold.xarray").TenfoldBackend


def test_the_engine_is_found_where_the_package_is_installed(tmp_path):
    if "tenfold" not in xr.backends.list_engines():
        pytest.skip("the package is used from its folder")
    np.save(tmp_path / "a.npy", np.ones(3))
    assert xr.open_dataset(tmp_path / "a.npy", engine="tenfold")["a"].values.sum() == 3


def test_a_lone_tensor_is_called_by_its_file(tmp_path):
    np.save(tmp_path / "field.npy", cells("<f4", (3, 4)))
    with xr.open_dataset(tmp_path / "field.npy", engine=ENGINE) as found:
        assert list(found) == ["field"] and found["field"].dims == ("field_dim_0", "field_dim_1")
        assert np.array_equal(found["field"][1:, ::-2].values, cells("<f4", (3, 4))[1:, ::-2])
        assert found["field"].isel(field_dim_0=[2, 0]).values.shape == (2, 4)


def test_names_and_metadata_are_kept(tmp_path):
    array = xr.DataArray(cells("<f8", (2, 3)), dims=("x", "y"), attrs={"unit": "m"})
    tenfold.save(tmp_path / "a.zt", {"v": array, "w": array * 2}, metadata={"title": "t"})
    found = xr.open_dataset(tmp_path / "a.zt", engine=ENGINE)
    assert found["v"].dims == ("x", "y") and found["v"].attrs["unit"] == "m"
    assert found.attrs["title"] == "t"
    assert np.array_equal((found["v"] + found["w"]).values, cells("<f8", (2, 3)) * 3)


def test_labels_become_coordinates(tmp_path):
    value = tenfold.Labelled(("cat",), [("a",), ("b",)], np.array([[1.0, 2.0], [3.0, 4.0]]), ("d",))
    tenfold.save(tmp_path / "t.tbf", value, format="vespa")
    found = xr.open_dataset(tmp_path / "t.tbf", engine=ENGINE, format="vespa")
    assert found["t"].sel(cat="b").values.tolist() == [3.0, 4.0]


def test_chunks_are_read_by_dask(tmp_path):
    pytest.importorskip("dask")
    np.save(tmp_path / "field.npy", cells("<f4", (30, 40)))
    found = xr.open_dataset(tmp_path / "field.npy", engine=ENGINE, chunks={})
    assert found["field"].chunks is not None
    assert float(found["field"].sum().compute()) == cells("<f4", (30, 40)).sum()


def test_a_notebook_shows_a_picture(tmp_path):
    for array in [cells("<f4", (100, 90)), cells("<f4", (3, 4, 5)), np.float32(3), np.zeros((0, 3))]:
        tensor = tenfold.open(tenfold.dumps(array, format="npy")).only
        page = tensor._repr_html_()
        assert page.startswith("<div") and ("<svg" in page) == (array.size > 0)
