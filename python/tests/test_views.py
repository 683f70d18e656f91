"""Arrays that are views of a file, and how long they live."""

from __future__ import annotations

import gc
import multiprocessing
import threading

import numpy as np
import pytest
import tenfold


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(12.0).reshape(3, 4))
    return path


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def test_two_views_are_the_same_memory(path):
    file = tenfold.open(path)
    first, second = file.only.numpy(), file.only.numpy()
    assert address(first) == address(second)
    assert address(file.only.numpy(copy=True)) != address(first)
    assert address(tenfold.open(path, io="read").only.numpy()) != address(first)
    assert address(file.only[1]) == address(first) + 32


def test_a_view_is_writable_and_the_file_is_not(path):
    before = path.read_bytes()
    array = tenfold.open(path, io="mmap").only.numpy()
    array[:] = 7
    assert path.read_bytes() == before and array.sum() == 84


def test_a_view_outlives_its_file(path):
    with tenfold.open(path, io="mmap") as file:
        array = file.only.numpy()
        row = file.only[2]
    del file
    path.unlink()
    gc.collect()
    assert array[2].tolist() == row.tolist() == [8.0, 9.0, 10.0, 11.0]


def test_a_column_major_tensor_is_a_fortran_view(tmp_path):
    array = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    np.save(tmp_path / "a.npy", array)
    tensor = tenfold.open(tmp_path / "a.npy", io="mmap").only
    view = tensor.numpy()
    assert tensor.order == "F" and view.flags.f_contiguous and not view.flags.owndata
    assert np.array_equal(view, array)
    assert tensor.numpy(order="C").flags.c_contiguous
    assert np.array_equal(tensor.numpy(order="C"), array)


def test_a_shortened_file_that_is_read_is_an_exception(path):
    tensor = tenfold.open(path, io="read").only
    with path.open("r+b") as file:
        file.truncate(150)
    with pytest.raises(tenfold.MalformedFile, match="became shorter"):
        tensor.numpy()


def test_a_file_that_was_shortened_before_it_is_mapped_is_an_exception(path):
    tensor = tenfold.open(path, io="mmap").only
    with path.open("r+b") as file:
        file.truncate(150)
    with pytest.raises(tenfold.MalformedFile, match="became shorter"):
        tensor.numpy()


def test_a_checksum_is_compared_unless_a_map_is_asked_for(tmp_path):
    array = np.arange(1000, dtype="<f4")
    path = tmp_path / "a.zt"
    tenfold.save(path, {"a": array}, checksum="sha256")
    data = bytearray(path.read_bytes())
    at = data.index(array.tobytes())
    data[at + 1] ^= 1
    path.write_bytes(data)
    with pytest.raises(tenfold.MalformedFile, match="checksum|sha256|digest"):
        tenfold.open(path)["a"].numpy()
    assert tenfold.open(path, io="mmap")["a"].numpy()[1] == 1.0
    with pytest.raises(tenfold.MalformedFile):
        tenfold.verify(path)


def test_copies_on_request(path):
    tensor = tenfold.open(path, io="mmap").only
    assert np.array_equal(np.array(tensor, copy=True), tensor.numpy())
    assert address(np.array(tensor, copy=True)) != address(tensor.numpy())
    assert np.asarray(tensor, dtype="f4").dtype == np.float32
    with pytest.raises(ValueError, match="without a copy"):
        np.array(tenfold.open(path, io="read").only, copy=False)


def test_dlpack_shares_the_memory(path):
    tensor = tenfold.open(path, io="mmap").only
    shared = np.from_dlpack(tensor)
    assert address(shared) == address(tensor.numpy())
    assert tensor.__dlpack_device__() == (1, 0)


def test_threads_read_at_the_same_time(tmp_path):
    array = np.random.default_rng(1).random((400, 1000))
    np.savez_compressed(tmp_path / "a.npz", a=array)
    np.save(tmp_path / "a.npy", array.astype(">f8"))
    wrong = []
    for name in ("a.npz", "a.npy"):
        tensor = tenfold.open(tmp_path / name, io="read").only

        def work(tensor=tensor):
            for _ in range(3):
                if not np.array_equal(tensor.numpy(), array):
                    wrong.append(name)

        threads = [threading.Thread(target=work) for _ in range(6)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    assert wrong == []


def child(tensor, queue):
    queue.put((float(tensor.numpy().sum()), tensor[1].tolist()))


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_other_processes_read_too(path, io, how):
    context = multiprocessing.get_context(how)
    tensor = tenfold.open(path, io=io).only
    queue = context.Queue()
    process = context.Process(target=child, args=(tensor, queue))
    process.start()
    assert queue.get(timeout=60) == (66.0, [4.0, 5.0, 6.0, 7.0])
    process.join()
