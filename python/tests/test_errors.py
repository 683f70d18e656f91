"""What is raised."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import tenfold


def test_a_missing_file_is_that_of_python(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        tenfold.open(tmp_path / "none.npy")
    error = caught.value
    assert isinstance(error, tenfold.TenfoldError) and isinstance(error, OSError)
    assert error.errno == 2 and error.filename == str(tmp_path / "none.npy")
    assert "No such file" in str(error)


def test_a_folder_without_a_tensor_file_is_none(tmp_path):
    with pytest.raises(tenfold.UnrecognisedFile, match="an empty folder"):
        tenfold.open(tmp_path)
    with pytest.raises(IsADirectoryError):
        tenfold.save(tmp_path, np.zeros(2), format="npy", overwrite=True)


def test_what_no_format_claims(tmp_path):
    (tmp_path / "a.xyz").write_bytes(b"hello, this is text")
    with pytest.raises(tenfold.UnrecognisedFile, match="format=") as caught:
        tenfold.open(tmp_path / "a.xyz")
    assert isinstance(caught.value, ValueError)


def test_a_malformed_file_says_where(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(10))
    path = tmp_path / "a.npy"
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(tenfold.MalformedFile, match="not a valid npy file") as caught:
        tenfold.open(path)
    assert caught.value.format == "npy"


def test_a_fault_in_values_names_the_file_and_its_format(corpus, tmp_path):
    path = corpus / "tens" / "bad" / "index_out_of_range.tens"
    file = tenfold.open(path)
    for read in [
        lambda: next(iter(file.values())).numpy(),
        lambda: tenfold.convert(path, tmp_path / "a.npy"),
        lambda: tenfold.save(tmp_path / "b.npz", {"a": np.ones(2), "b": next(iter(file.values()))}),
    ]:
        with pytest.raises(tenfold.MalformedFile, match="index 4 lies outside") as caught:
            read()
        assert str(path) in str(caught.value) and caught.value.format == "tens"


def test_a_name_that_is_not_there_suggests_others():
    file = tenfold.open(tenfold.dumps({"encoder.weight": np.ones(1), "b": np.ones(1)}, format="npz"))
    with pytest.raises(KeyError, match="encoder.weight") as caught:
        _ = file["encoder.wieght"]
    assert isinstance(caught.value, tenfold.TensorNotFound)
    assert "there are 2" in str(pytest.raises(KeyError, file.__getitem__, "zzz").value)


def test_a_limit_says_how_it_is_raised():
    data = tenfold.dumps(np.ones((1, 1, 1)), format="npy")
    with pytest.raises(tenfold.LimitExceeded, match=r"limits=\{'ndim': 3\}") as caught:
        tenfold.open(data, limits={"ndim": 2})
    assert (caught.value.limit, caught.value.wanted, caught.value.allowed) == ("ndim", 3, 2)
    with pytest.raises(tenfold.InvalidRequest, match="no limit called"):
        tenfold.open(data, limits={"nothing": 2})


@pytest.mark.parametrize(("wanted", "shown"), [((1 << 64) - 1, "2^64 or more"), ((1 << 128) - 1, "2^128 or more")])
def test_what_is_beyond_counting_is_no_number(wanted, shown):
    text = str(tenfold.LimitExceeded("many", "decoded", wanted, 7))
    assert text == f"many ({shown} wanted, 7 allowed)"
    assert str(tenfold.LimitExceeded("many", "decoded", 9, 7)) == "many (9 wanted, 7 allowed; limits={'decoded': 9} raises it)"


def test_a_type_that_an_old_package_lacks(monkeypatch):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    monkeypatch.delattr(ml_dtypes, "float8_e8m0fnu")
    header = b'{"w":{"dtype":"F8_E8M0","shape":[4],"data_offsets":[0,4]}}'
    tensor = tenfold.open(len(header).to_bytes(8, "little") + header + bytes(4))["w"]
    assert tensor.dtype == np.dtype("V1") and "F8_E8M0" in repr(tensor)
    with pytest.raises(tenfold.MissingPackage, match="newer ml_dtypes"):
        tensor.numpy()


def test_words_that_are_not_known():
    data = tenfold.dumps(np.ones(1), format="npy")
    for word in ("i8", "u8"):
        with pytest.raises(tenfold.InvalidRequest, match="int8 or u?int64"):
            tenfold.open(data).only.numpy(dtype=word)
    assert tenfold.open(data).only.numpy(dtype="int8").dtype == np.int8
    with pytest.raises(tenfold.InvalidRequest, match="0: reshape it"):
        tenfold.compress(np.float64(1))
    with pytest.raises(KeyError, match="3"):
        tenfold.open(data)[3]
    with pytest.raises(tenfold.InvalidRequest, match="auto, mmap, read"):
        tenfold.open(data, io="fast")
    with pytest.raises(tenfold.InvalidRequest, match="K, A, C, F"):
        tenfold.open(data).only.numpy(order="X")


def test_refusals_name_what_helps_in_python(tmp_path):
    vector = np.arange(3.0)
    with pytest.raises(tenfold.LossRefused, match="a reshape to 1,3 fits"):
        tenfold.save(tmp_path / "v.mtx", vector)
    with pytest.raises(tenfold.LossRefused, match="tenfold.compress makes a train"):
        tenfold.save(tmp_path / "v.blz", vector)


def test_exceptions_survive_pickling():
    loss = tenfold.Loss("a", "labels", "all of them", "refused")
    for error in [
        tenfold.MalformedFile("bad", "npy", 3), tenfold.LossRefused("npy", [loss]),
        tenfold.LimitExceeded("why", "ndim", 3, 2), tenfold.UnrecognisedFile(["a"]),
        tenfold.RankLimitReached("m", 3, 2, 0.5), tenfold.InvalidRequest("no"),
        tenfold.OutOfMemory("much"),
    ]:  # fmt: skip
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error)
        assert again.__dict__ == error.__dict__
